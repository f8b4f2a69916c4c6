package dev.cay.prove.fuzz;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import dev.cay.dockerfile.Selection;
import dev.cay.life.Trees;
import dev.cay.node.linux.EntryCalls;
import dev.cay.node.linux.FileCalls;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/// A build context with links of every kind, a pipe that nobody writes to, and a secret beside it.
final class ContextFiles implements AutoCloseable {
    private static final String SECRET = "never to be read";

    private final Path scratch = Files.createTempDirectory(Path.of("/dev/shm"), "cay-fuzz-");
    private final Path directory = Files.createDirectories(scratch.resolve("context"));
    private final TreeState before;

    ContextFiles() throws IOException {
        Path outside = Files.createDirectories(scratch.resolve("outside"));
        Files.writeString(outside.resolve("secret"), SECRET);
        Files.createDirectories(directory.resolve("dir/deep/er"));
        for (String file :
                new String[] {"a", "b.txt", "dir/c", "dir/d.txt", "dir/deep/er/e", "with space", "ü", "[x]"}) {
            Files.writeString(directory.resolve(file), file);
        }
        link("link", "a");
        link("dirlink", "dir");
        link("out", "../outside/secret");
        link("outdir", "../outside");
        link("absolute", outside.resolve("secret").toString());
        link("broken", "nowhere");
        link("loop", "loop");
        link("dir/up", "../../outside");
        try (var open = FileCalls.open(directory.toString(), FileCalls.DIRECTORY, 0)) {
            EntryCalls.makeNode(open, "pipe", EntryCalls.FIFO | 0600, 0, 0);
        }
        before = TreeState.of(scratch);
    }

    private void link(String name, String target) throws IOException {
        Files.createSymbolicLink(directory.resolve(name), Path.of(target));
    }

    Path directory() {
        return directory;
    }

    /// What is wrong with files that a build would take; empty for nothing.
    String wrong(Selection selection) throws IOException {
        for (var entry : selection.entries()) {
            if (!entry.file().startsWith(directory) || entry.path().contains("..")) {
                return "takes %s, which is outside of the context".formatted(entry);
            }
        }
        selection.hash();
        var archive = new ByteArrayOutputStream();
        selection.writeTar(archive);
        return archive.toString(ISO_8859_1).contains(SECRET) ? "takes what is outside of the context" : "";
    }

    /// What is no longer as it was; empty for nothing.
    String changed() throws IOException {
        return before.difference(TreeState.of(scratch));
    }

    @Override
    public void close() throws IOException {
        Trees.delete(scratch);
    }
}
