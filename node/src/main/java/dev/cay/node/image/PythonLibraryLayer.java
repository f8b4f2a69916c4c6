package dev.cay.node.image;

import dev.cay.node.host.Programs;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/// The layer with IPython, `/opt/cay/python`: what the runner of Python cells needs where a template has a Python
/// without it. It is a copy of what `base` has, and all of it is written in Python, so that it serves any image.
final class PythonLibraryLayer {
    static final String KEY = "python-library-";

    private static final Duration LIMIT = Duration.ofMinutes(1);
    private static final String INSTALLED = "usr/lib/python3/dist-packages";
    private static final List<String> MODULES = List.of(
            "IPython",
            "asttokens",
            "backcall",
            "decorator.py",
            "executing",
            "matplotlib_inline",
            "pexpect",
            "pickleshare.py",
            "prompt_toolkit",
            "prompt_toolkit-*",
            "ptyprocess",
            "pure_eval",
            "pygments",
            "six.py",
            "stack_data",
            "traitlets",
            "wcwidth");

    /// Counts up when something else is made of the same tree.
    private static final String VERSION = "1";

    private final LayerStore layers;
    private final Programs programs;

    /// The tree of `base`.
    private final String tree = Recipe.of(HouseTemplate.BASE).key(HostArchitecture.name());

    PythonLibraryLayer(LayerStore layers, Programs programs) {
        this.layers = layers;
        this.programs = programs;
    }

    /// Builds the layer unless it exists.
    ///
    /// @return the layer's key
    String build() {
        String key = KEY + Recipe.hash(List.of(VERSION, tree, String.join(" ", MODULES)));
        layers.build(key, this::fill);
        return key;
    }

    private void fill(Path rootfs) throws IOException {
        if (!layers.has(tree)) {
            throw new CayException(ErrorKind.UNAVAILABLE, "template base, which has IPython, is not made yet");
        }
        var command = new ArrayList<>(List.of("cp", "-a", "--"));
        var installed = layers.require(tree).resolve(INSTALLED);
        for (String module : MODULES) {
            try (var found = Files.newDirectoryStream(installed, module)) {
                found.forEach(entry -> command.add(entry.toString()));
            }
        }
        command.add(Files.createDirectories(rootfs.resolve("opt/cay/python")).toString());
        programs.require(LIMIT, command.toArray(String[]::new));
    }
}
