package dev.cay.node.image;

import dev.cay.node.host.Programs;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.List;

/// What a template has of an interpreter.
///
/// Some templates of Cay's own start one with every sandbox. All others that have a program for it get one on demand:
/// two layers that all of them share, and that cost nothing until a client sends a cell. Thread-safe.
public final class InterpreterLayers {
    /// Where a template lists the languages whose interpreter starts with the sandbox.
    public static final String LANGUAGES = "opt/cay/languages";

    /// Where a template lists the languages whose interpreter starts with the first cell.
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

    /// A template is somebody's image: no link in it leads elsewhere.
    private static boolean hasList(Path layer) {
        var file = layer.resolve(LANGUAGES);
        try {
            return Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)
                    && file.toRealPath().startsWith(layer.toRealPath());
        } catch (IOException e) {
            return false;
        }
    }

    /// Whether a layer is one of those that give an interpreter on demand.
    public static boolean isOnDemand(String key) {
        return key.startsWith(RunnersLayer.ON_DEMAND_KEY) || key.startsWith(PythonLibraryLayer.KEY);
    }

    /// Builds unless it is there.
    ///
    /// @return the key of the layer with runners that start with each sandbox
    String fromStart(List<String> languages) {
        return runners.build(languages, LANGUAGES);
    }

    /// Builds unless it is there.
    ///
    /// @param languages lines of the list
    /// @return the key of the layer with runners for these languages
    public String onDemand(List<String> languages) {
        return runners.build(languages, ON_DEMAND);
    }

    /// Builds unless it is there, of template `base`.
    ///
    /// @return the key of the layer with what Python cells need beside a Python
    public String pythonLibrary() {
        return library.build();
    }
}
