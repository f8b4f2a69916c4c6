package dev.cay.node.image;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.cay.node.host.Programs;
import dev.cay.testing.Fast;
import dev.cay.wire.CayException;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Fast
final class FileLayersTest {
    private static final String SUBJECT = "launch.files of mcp.mine";

    @TempDir
    private Path directory;

    private LayerStore layers;
    private FileLayers files;
    private Path source;

    @BeforeEach
    void open() throws IOException {
        layers = new LayerStore(directory.resolve("cache"));
        files = new FileLayers(layers);
        source = Files.createDirectories(directory.resolve("source"));
        Files.createDirectories(source.resolve("bin"));
        Files.createDirectories(source.resolve("empty"));
        Files.writeString(source.resolve("bin/run"), "#!/bin/sh\n");
        Files.writeString(source.resolve("data"), "one");
        Files.createSymbolicLink(source.resolve("bin/data"), Path.of("../data"));
        Files.createSymbolicLink(source.resolve("also"), Path.of("bin"));
    }

    @Test
    void copiesWhatADirectoryHoldsForEverybodyToRead() throws Exception {
        Programs.ofHost()
                .require(
                        Duration.ofSeconds(10),
                        "chmod",
                        "6711",
                        source.resolve("bin/run").toString());
        Files.setPosixFilePermissions(source.resolve("data"), PosixFilePermissions.fromString("rw-------"));
        Files.setPosixFilePermissions(source.resolve("bin"), PosixFilePermissions.fromString("rwx------"));

        var rootfs = layers.require(install());

        assertThat(list(rootfs)).isEqualTo("""
                opt 755
                opt/mcp 755
                opt/mcp/also -> bin
                opt/mcp/bin 755
                opt/mcp/bin/data -> ../data
                opt/mcp/bin/run 755
                opt/mcp/data 644
                opt/mcp/empty 755""");
        assertThat(rootfs.resolve("opt/mcp/also/data")).hasContent("one");
    }

    /// Names with modes or targets. All belongs to whoever we are.
    private static String list(Path rootfs) throws IOException {
        try (var all = Files.walk(rootfs).skip(1).sorted()) {
            return all.map(path -> describe(rootfs, path)).collect(Collectors.joining("\n"));
        }
    }

    private static String describe(Path rootfs, Path path) {
        try {
            var name = rootfs.relativize(path);
            if (Files.isSymbolicLink(path)) {
                return name + " -> " + Files.readSymbolicLink(path);
            }
            assertThat(Files.getOwner(path)).isEqualTo(Files.getOwner(Path.of("/proc/self")));
            int mode = (int) Files.getAttribute(path, "unix:mode", LinkOption.NOFOLLOW_LINKS) & 07777;
            return name + " " + Integer.toOctalString(mode);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void copiesOneFileByTheNameItIsGivenBy() throws Exception {
        var link = Files.createSymbolicLink(directory.resolve("program"), source.resolve("bin/run"));
        assertThat(list(layers.require(files.install(link, SUBJECT)))).isEqualTo("""
                opt 755
                opt/mcp 755
                opt/mcp/program 644""");
    }

    @Test
    void otherFilesAreAnotherLayer() throws Exception {
        String first = install();
        Files.setLastModifiedTime(source.resolve("data"), java.nio.file.attribute.FileTime.fromMillis(0));
        assertThat(install()).as("the same content").isEqualTo(first);

        Files.writeString(source.resolve("data"), "two");
        String changed = install();
        assertThat(changed).isNotEqualTo(first);
        assertThat(layers.require(changed).resolve("opt/mcp/data")).hasContent("two");
        assertThat(layers.require(first).resolve("opt/mcp/data")).hasContent("one");

        Files.setPosixFilePermissions(source.resolve("data"), PosixFilePermissions.fromString("rwxr-xr-x"));
        String program = install();
        assertThat(program).isNotEqualTo(changed);
        Files.delete(source.resolve("empty"));
        assertThat(install()).isNotEqualTo(program);
    }

    @Test
    void refusesLinksThatLeadElsewhere() throws Exception {
        Files.writeString(directory.resolve("secret"), "hunter2");
        for (String target : new String[] {
            "../secret",
            "/etc/passwd",
            source.resolve("data").toString(),
            "nowhere",
            "also/../../secret",
            "link",
            "../source/data"
        }) {
            var link = Files.createSymbolicLink(source.resolve("link"), Path.of(target));
            assertThatThrownBy(this::install)
                    .as(target)
                    .isInstanceOf(CayException.class)
                    .hasMessage(SUBJECT + " holds a link that leads out of it, or nowhere: link");
            Files.delete(link);
        }
        assertThat(directory.resolve("cache/layers").toFile().list((_, name) -> name.startsWith("mcp-files-")))
                .isNullOrEmpty();
    }

    @Test
    void refusesWhatIsNoFile() throws Exception {
        var pipe = source.resolve("bin/pipe");
        Programs.ofHost().require(Duration.ofSeconds(10), "mkfifo", pipe.toString());
        assertThatThrownBy(this::install)
                .hasMessage(SUBJECT + " holds something that is no file, directory or link: bin/pipe");
        assertThatThrownBy(() -> files.install(Path.of("/dev/zero"), SUBJECT)).hasMessageContaining("no file");
        assertThatThrownBy(() -> files.install(directory.resolve("missing"), SUBJECT))
                .isInstanceOf(CayException.class)
                .hasMessage(SUBJECT + " names a path that does not exist on this host");
    }

    @Test
    void refusesWhatIsTooLarge() throws Exception {
        try (var large = new RandomAccessFile(source.resolve("large").toFile(), "rw")) {
            large.setLength((1L << 30) + 1);
        }
        assertThatThrownBy(this::install)
                .hasMessage(SUBJECT + " holds more than 1024 MiB or 50,000 files, which is too much for a layer");
    }

    /// This file is another one whenever it is read.
    @Test
    void takesNoFileThatChangesMeanwhile() {
        assertThatThrownBy(() -> files.install(Path.of("/proc/sys/kernel/random/uuid"), SUBJECT))
                .isInstanceOf(CayException.class)
                .hasMessage(SUBJECT + " changed while it was being copied; try again");
    }

    private String install() {
        return files.install(source, SUBJECT);
    }
}
