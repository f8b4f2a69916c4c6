package dev.cay.prove;

import dev.cay.life.Undo;
import dev.cay.node.host.Programs;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/// A cache directory of a proof's own, on a file system of its own that can be made small. The layers of base are links
/// to those of the machine, so that they need not be built.
final class BuildCache implements AutoCloseable {
    private static final Path SHARED = Path.of("/var/cache/cay/layers");
    private static final Duration LIMIT = Duration.ofMinutes(1);
    private static final String PLENTY = "6g";
    private static final int MOST_TRIES = 100;

    private final Programs programs = Programs.ofHost();
    private final Undo closing = new Undo();
    private final Path directory;

    BuildCache() throws IOException {
        try (var undo = new Undo()) {
            undo.add(closing);
            directory = Files.createTempDirectory("cay-builds-");
            closing.step(() -> Files.delete(directory));
            programs.require(
                    LIMIT, "mount", "-t", "tmpfs", "-o", "mode=700,size=" + PLENTY, "cay-builds", directory.toString());
            closing.step(() -> programs.require(LIMIT, "umount", directory.toString()));
            Files.createDirectories(layers());
            if (Files.isDirectory(SHARED)) {
                try (var all = Files.newDirectoryStream(SHARED, "base-*")) {
                    for (Path layer : all) {
                        Files.createSymbolicLink(layers().resolve(layer.getFileName()), layer);
                    }
                }
            }
            undo.keep();
        }
    }

    private Path layers() {
        return directory.resolve("layers");
    }

    /// A section of `cay.yaml`.
    String section() {
        return "cacheDir: %s\n".formatted(directory);
    }

    /// Leaves so many bytes free. The kernel refuses a size below what is used, and that may grow meanwhile.
    void shrink(long free) {
        for (int tries = 0; tries < MOST_TRIES; tries++) {
            long used = directory.toFile().getTotalSpace() - directory.toFile().getUsableSpace();
            if (resize(Long.toString(used + free))) {
                return;
            }
        }
        throw new IllegalStateException("the cache could not be made small");
    }

    void grow() {
        if (!resize(PLENTY)) {
            throw new IllegalStateException("the cache could not be made large again");
        }
    }

    private boolean resize(String size) {
        return programs.run(LIMIT, "mount", "-o", "remount,size=" + size, directory.toString())
                .ok();
    }

    /// What no build may leave there when it is over.
    List<String> leftovers() throws IOException {
        var found = new ArrayList<String>();
        addAll(layers(), "{.unfinished-*,.*.progress,temporary-*}", found);
        addAll(directory.resolve("images/staging"), "*", found);
        return found;
    }

    private static void addAll(Path place, String pattern, List<String> found) throws IOException {
        if (Files.isDirectory(place)) {
            try (var all = Files.newDirectoryStream(place, pattern)) {
                all.forEach(each -> found.add("in the cache: " + each.getFileName()));
            }
        }
    }

    @Override
    public void close() {
        closing.close();
    }
}
