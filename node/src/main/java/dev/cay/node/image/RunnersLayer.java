package dev.cay.node.image;

import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/// The small layer of the programs that run cells, `/opt/cay/runners`, and of a list of the languages that a template
/// has programs for.
///
/// It is apart from the tree below, so that a change of a runner costs milliseconds and no rebuilding.
final class RunnersLayer {
    static final String ON_DEMAND_KEY = "runners-on-demand-";

    /// The packed runners, all of which are copied.
    private static final String PACKED = "dev/cay/guest/runners";

    /// Counts up when this class writes something else for the same inputs.
    private static final String VERSION = "1";

    private final LayerStore layers;
    private final SortedMap<String, byte[]> files;

    RunnersLayer(LayerStore layers) {
        this(layers, packed());
    }

    /// @param files contents by path
    RunnersLayer(LayerStore layers, SortedMap<String, byte[]> files) {
        this.layers = layers;
        this.files = Collections.unmodifiableSortedMap(new TreeMap<>(files));
    }

    /// Builds the layer unless it exists.
    ///
    /// @param list path of the list
    /// @return the layer's key
    String build(List<String> languages, String list) {
        var inputs = new ArrayList<>(List.of(VERSION, String.join("\n", languages)));
        files.forEach((name, content) -> {
            inputs.add(name);
            inputs.add(HexFormat.of().formatHex(content));
        });
        boolean onDemand = list.equals(InterpreterLayers.ON_DEMAND);
        String key = (onDemand ? ON_DEMAND_KEY : "runners-") + Recipe.hash(inputs);
        layers.build(key, rootfs -> fill(rootfs, languages, rootfs.resolve(list)));
        return key;
    }

    private void fill(Path rootfs, List<String> languages, Path list) throws IOException {
        var home = Files.createDirectories(rootfs.resolve("opt/cay"));
        Files.writeString(list, String.join("\n", languages) + "\n");
        for (var file : files.entrySet()) {
            var target = home.resolve("runners").resolve(file.getKey()).normalize();
            var directory = target.getParent();
            if (directory == null || !directory.startsWith(home)) {
                throw new IOException("a runner's file that lies elsewhere: " + file.getKey());
            }
            Files.createDirectories(directory);
            Files.write(target, file.getValue());
            boolean program = new String(
                            file.getValue(), 0, Math.min(2, file.getValue().length), StandardCharsets.US_ASCII)
                    .equals("#!");
            Files.setPosixFilePermissions(target, PosixFilePermissions.fromString(program ? "rwxr-xr-x" : "rw-r--r--"));
        }
    }

    private static SortedMap<String, byte[]> packed() {
        var found = new TreeMap<String, byte[]>();
        try {
            for (URL place :
                    Collections.list(RunnersLayer.class.getClassLoader().getResources(PACKED))) {
                URI uri = place.toURI();
                if (uri.getScheme().equals("jar")) {
                    try (var jar = FileSystems.newFileSystem(uri, Map.of())) {
                        read(jar.getPath("/" + PACKED), found);
                    }
                } else {
                    read(Path.of(uri), found);
                }
            }
            return found;
        } catch (IOException | URISyntaxException e) {
            throw new CayException(ErrorKind.INTERNAL, "the runners cannot be unpacked", e);
        }
    }

    private static void read(Path top, SortedMap<String, byte[]> found) throws IOException {
        try (var all = Files.walk(top)) {
            for (Path file : all.filter(Files::isRegularFile).toList()) {
                found.put(top.relativize(file).toString(), Files.readAllBytes(file));
            }
        }
    }
}
