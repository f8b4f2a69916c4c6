package dev.cay.node.image;

import dev.cay.node.host.Programs;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.List;

/// The layers of the interpreter.
///
/// Some of Cay's own templates start an interpreter with every sandbox. All others that have a program for it get one
/// on demand: two layers that all of them share, and that cost nothing until a client sends a cell. Thread-safe.
public final class InterpreterLayers {
    /// File in which a template lists the languages whose interpreter starts with the sandbox.
    public static final String LANGUAGES = "opt/cay/languages";

    /// File in which a template lists the languages whose interpreter starts with the first cell.
    public static final String ON_DEMAND = "opt/cay/languages-on-demand";

    private final RunnersLayer runners;
    private final PythonLibraryLayer library;

    public InterpreterLayers(LayerStore layers, Programs programs) {
        this.runners = new RunnersLayer(layers);
        this.library = new PythonLibraryLayer(layers, programs);
    }

    /// Whether an interpreter starts with each sandbox of a template.
    ///
    /// @param roots directories of its layers
    public static boolean isFromStart(List<Path> roots) {
        return roots.stream().anyMatch(InterpreterLayers::hasList);
    }

    /// Whether the layer has the list. A template may be a hostile image, so links in it are not followed.
    private static boolean hasList(Path layer) {
        var file = layer.resolve(LANGUAGES);
        try {
            return Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)
                    && file.toRealPath().startsWith(layer.toRealPath());
        } catch (IOException e) {
            return false;
        }
    }

    /// Whether a layer is one of those that provide an interpreter on demand.
    public static boolean isOnDemand(String key) {
        return key.startsWith(RunnersLayer.ON_DEMAND_KEY) || key.startsWith(PythonLibraryLayer.KEY);
    }

    /// Builds the layer unless it exists.
    ///
    /// @return the key of the layer with runners that start with each sandbox
    String fromStart(List<String> languages) {
        return runners.build(languages, LANGUAGES);
    }

    /// Builds the layer unless it exists.
    ///
    /// @param languages lines of the list
    /// @return the key of the layer with runners for these languages
    public String onDemand(List<String> languages) {
        return runners.build(languages, ON_DEMAND);
    }

    /// Builds the layer from template `base`, unless it exists.
    ///
    /// @return the key of the layer with the libraries that Python cells need
    public String pythonLibrary() {
        return library.build();
    }
}
