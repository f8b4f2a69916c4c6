package dev.cay.node.files;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.cay.node.linux.HostThreads;
import dev.cay.testing.NeedsRoot;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@NeedsRoot
class FileTreeTest {
    private static final int BASE = 700_000;
    private static final Account USER = new Account("user", 1000, 1001, "/home/user", "/bin/sh", List.of());

    @TempDir
    private Path directory;

    private Path root;
    private HostThreads threads;
    private FileTree tree;

    @BeforeEach
    void open() throws IOException {
        root = Files.createDirectory(directory.resolve("root"));
        Files.writeString(directory.resolve("secret"), "of the host");
        Files.createDirectories(root.resolve("etc"));
        Files.writeString(
                root.resolve("etc/passwd"),
                "root:x:0:0::/root:/bin/sh\nuser:x:1000:1001:U:/home/user:/bin/sh\nbad:x:99999999:0::/:\n");
        Files.writeString(root.resolve("etc/group"), "root:x:0:\nusers:x:1001:\nsudo:x:27:user,x\n");
        threads = new HostThreads("test-files", 2, 100);
        tree = FileTree.open(root.toString(), BASE, threads.shareOf(() -> "test"));
    }

    @AfterEach
    void close() {
        tree.close();
        threads.close();
    }

    /// The guest's own program, for one, runs all the time.
    @Test
    void aProgramThatRunsIsNotWritten() throws Exception {
        var program = Files.copy(Path.of("/bin/sleep"), root.resolve("program"), StandardCopyOption.COPY_ATTRIBUTES);
        var running = new ProcessBuilder(program.toString(), "600").start();
        try {
            assertThatThrownBy(() -> tree.write(path("/program"), USER, Map.of()))
                    .isInstanceOfSatisfying(CayException.class, e -> {
                        assertThat(e.kind()).isEqualTo(ErrorKind.CONFLICT);
                        assertThat(e.userMessage()).contains("/program", "runs");
                    });
        } finally {
            running.destroyForcibly();
        }
    }

    private static SandboxPath path(String text) {
        return SandboxPath.of(text);
    }

    private String read(String path) throws IOException {
        try (var file = tree.read(path(path))) {
            return new String(file.stream(0, file.size()).readAllBytes(), UTF_8);
        }
    }

    private void write(String path, String text) throws IOException {
        try (var file = tree.write(path(path), USER, Map.of())) {
            file.write(text.getBytes(UTF_8));
        }
    }

    @Test
    void makesParentsAndGivesAllToTheUser() throws IOException {
        write("/a/b/c.txt", "long text");
        write("/a/b/c.txt", "short");

        assertThat(read("/a/b/c.txt")).isEqualTo("short");
        for (String made : List.of("a", "a/b", "a/b/c.txt")) {
            assertThat(Files.getAttribute(root.resolve(made), "unix:uid"))
                    .as(made)
                    .isEqualTo(BASE + 1000);
            assertThat(Files.getAttribute(root.resolve(made), "unix:gid"))
                    .as(made)
                    .isEqualTo(BASE + 1001);
        }
        var entry = tree.stat(path("/a/b/c.txt"));
        assertThat(entry.permissions()).isEqualTo("-rw-r--r--");
        assertThat(entry.owner()).isEqualTo("user");
        assertThat(entry.group()).isEqualTo("users");
        assertThat(tree.stat(path("/a")).permissions()).isEqualTo("drwxr-xr-x");
    }

    @Test
    void takesOverAFileThatBelongedToAnother() throws IOException {
        Files.writeString(root.resolve("roots"), "old");
        write("/roots", "new");
        assertThat(Files.getAttribute(root.resolve("roots"), "unix:uid")).isEqualTo(BASE + 1000);
    }

    @Test
    void leavesNoWayOutOfTheRoot() throws IOException {
        Files.createSymbolicLink(root.resolve("absolute"), directory.resolve("secret"));
        Files.createSymbolicLink(root.resolve("upwards"), Path.of("../secret"));
        Files.createSymbolicLink(root.resolve("folder"), Path.of("../../../../.."));
        Files.createSymbolicLink(root.resolve("magic"), Path.of("/proc/self/root/etc/passwd"));
        for (String link : List.of("/absolute", "/upwards", "/folder" + directory + "/secret", "/../secret")) {
            assertThatThrownBy(() -> read(link))
                    .as(link)
                    .isInstanceOfSatisfying(
                            CayException.class, e -> assertThat(e.kind()).isEqualTo(ErrorKind.NOT_FOUND));
        }
        assertThatThrownBy(() -> read("/magic")).isInstanceOf(CayException.class);

        write("/upwards", "inside");

        assertThat(Files.readString(directory.resolve("secret"))).isEqualTo("of the host");
        assertThat(Files.readString(root.resolve("secret"))).isEqualTo("inside");
    }

    @Test
    void readsOnlyRegularFilesAndNeverHangs() throws Exception {
        assertThat(new ProcessBuilder("mkfifo", root.resolve("pipe").toString())
                        .start()
                        .waitFor())
                .isZero();
        assertThatThrownBy(() -> read("/pipe")).hasMessageContaining("not a regular file");
        assertThatThrownBy(() -> write("/pipe", "")).hasMessageContaining("not a regular file");
        assertThatThrownBy(() -> read("/etc")).hasMessage("path '/etc' is a directory");
        assertThatThrownBy(() -> write("/etc", "")).hasMessage("path is a directory: /etc");
        assertThatThrownBy(() -> read("/none")).hasMessage("path '/none' does not exist");
    }

    @Test
    void refusesToPullTheKernelsLevers() throws IOException {
        try (var host = FileTree.open("/", 0, threads.shareOf(() -> "test"))) {
            var root = new Account("root", 0, 0, "/root", "/bin/sh", List.of());
            assertThatThrownBy(() -> host.write(path("/proc/sys/kernel/hostname"), root, Map.of()))
                    .isInstanceOfSatisfying(
                            CayException.class, e -> assertThat(e.kind()).isEqualTo(ErrorKind.PERMISSION_DENIED));
        }
    }

    @Test
    void knowsUsersAndForgetsThemWhenTheFileChanges() throws IOException {
        assertThat(tree.findAccount("user"))
                .contains(new Account("user", 1000, 1001, "/home/user", "/bin/sh", List.of(1001, 27)));
        assertThat(tree.findAccount("bad")).isEmpty();
        Files.writeString(root.resolve("etc/passwd"), "other:x:5:5::/o:/bin/sh\n");
        assertThat(tree.findAccount("user")).isEmpty();
        assertThat(tree.findAccount("other")).isPresent();
    }

    @Test
    void listsMovesAndRemoves() throws IOException {
        write("/d/x/one", "1");
        write("/d/two", "22");
        Files.createSymbolicLink(root.resolve("d/link"), Path.of("two"));
        Files.createSymbolicLink(root.resolve("d/broken"), Path.of("nowhere"));

        assertThat(tree.list(path("/d"), 1, _ -> {}))
                .extracting(e -> e.path().text())
                .containsExactly("/d/broken", "/d/link", "/d/two", "/d/x");
        assertThat(tree.list(path("/d"), 5, _ -> {}))
                .extracting(e -> e.path().text())
                .endsWith("/d/x", "/d/x/one");
        var link = tree.stat(path("/d/link"));
        assertThat(link.type()).isEqualTo(Entry.Type.FILE);
        assertThat(link.permissions()).isEqualTo("Lrwxrwxrwx");
        assertThat(link.symlinkTarget()).endsWith("/d/two");
        assertThat(tree.stat(path("/d/broken")).type()).isEqualTo(Entry.Type.OTHER);

        tree.move(path("/d/two"), path("/e/f/three"), USER);
        assertThat(read("/e/f/three")).isEqualTo("22");
        assertThatThrownBy(() -> tree.move(path("/none"), path("/g"), USER)).hasMessageContaining("does not exist");

        assertThat(tree.makeDirectory(path("/m/n"), USER)).isTrue();
        assertThat(tree.makeDirectory(path("/m/n"), USER)).isFalse();
        assertThatThrownBy(() -> tree.makeDirectory(path("/e/f/three"), USER)).hasMessageContaining("not a directory");

        Files.createSymbolicLink(root.resolve("d/x/out"), directory);
        tree.remove(path("/d"));
        tree.remove(path("/d"));
        assertThat(Files.exists(root.resolve("d"), LinkOption.NOFOLLOW_LINKS)).isFalse();
        assertThat(Files.exists(directory.resolve("secret"))).isTrue();
    }

    @Test
    void anEmptyDirectoryHasASizeOnEveryFileSystem() throws Exception {
        Files.createDirectory(root.resolve("kernel"));
        assertHasOneBlock(tree, path("/kernel"));
        // Every machine has this file system, on which directories have no size, as empty ones have none on btrfs.
        assertThat(Files.size(Path.of("/proc/sys/kernel"))).isZero();
        var withoutSizes = FileTree.open("/proc/sys", BASE, threads.shareOf(() -> "test"));
        try {
            assertHasOneBlock(withoutSizes, path("/kernel"));
        } finally {
            withoutSizes.close();
        }
    }

    private static void assertHasOneBlock(FileTree tree, SandboxPath directory) throws Exception {
        assertThat(tree.stat(directory).size()).isEqualTo(4096);
        assertThat(tree.list(path("/"), 1, _ -> {}))
                .filteredOn(entry -> entry.path().equals(directory))
                .allMatch(entry -> entry.size() == 4096)
                .hasSize(1);
    }

    @Test
    void aDirectoryOfTooManyFilesIsRefusedAndALargeOneAsksForMemory() throws Exception {
        var asked = new java.util.concurrent.atomic.AtomicLong();
        var many = Files.createDirectory(root.resolve("many"));
        for (int i = 0; i < 5000; i++) {
            Files.createFile(many.resolve("n" + i));
        }
        assertThat(tree.list(path("/many"), 1, asked::set)).hasSize(5000);
        assertThat(asked.get()).isGreaterThan(50_000_000);
        for (int i = 5000; i <= 100_000; i++) {
            Files.createFile(many.resolve("n" + i));
        }
        assertThatThrownBy(() -> tree.list(path("/many"), 1, asked::set))
                .isInstanceOf(CayException.class)
                .hasMessageContaining("more than 100000 entries");
    }

    @Test
    void removesManyFilesWithAnyNames() throws Exception {
        var script = "mkdir many; cd many; touch $(seq 5000) $'\\xff\\xfe' $'\\xc3('; mkdir $'\\x80'; ln -s / out";
        assertThat(new ProcessBuilder("bash", "-c", script)
                        .directory(root.toFile())
                        .start()
                        .waitFor())
                .isZero();
        assertThat(tree.list(path("/many"), 1, _ -> {})).hasSize(5004);

        tree.remove(path("/many"));

        assertThat(Files.exists(root.resolve("many"), LinkOption.NOFOLLOW_LINKS))
                .isFalse();
    }

    @Test
    void writesThroughALinkThatLeadsNowhereYet() throws IOException {
        Files.createSymbolicLink(root.resolve("link"), Path.of("target"));
        write("/link", "text");
        assertThat(Files.readString(root.resolve("target"))).isEqualTo("text");
        assertThat(Files.getAttribute(root.resolve("target"), "unix:uid")).isEqualTo(BASE + 1000);
        Files.createSymbolicLink(root.resolve("broken"), Path.of("nowhere"));
        assertThatThrownBy(() -> tree.makeDirectory(path("/broken"), USER)).isInstanceOf(CayException.class);
    }
}
