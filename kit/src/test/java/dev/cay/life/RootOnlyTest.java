package dev.cay.life;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.cay.testing.Fast;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Fast
final class RootOnlyTest {
    @TempDir
    private Path directory;

    @Test
    void makesWhatOnlyItsOwnerReads() throws IOException {
        Path made = RootOnly.directory(directory.resolve("above/made"));
        assertThat(mode(made)).isEqualTo("rwx------");
        assertThat(mode(RootOnly.file(made.resolve("file")))).isEqualTo("rw-------");
        WholeFile.write(made.resolve("whole"), "text");
        assertThat(mode(made.resolve("whole"))).isEqualTo("rw-------");
    }

    @Test
    void closesWhatIsThereAndKeepsItsContent() throws IOException {
        Path open = open(Files.createDirectory(directory.resolve("open")), "rwxr-xr-x");
        Path file = open(Files.writeString(open.resolve("file"), "text"), "rw-r--r--");
        assertThat(mode(RootOnly.file(file))).isEqualTo("rw-------");
        assertThat(mode(RootOnly.directory(open))).isEqualTo("rwx------");
        assertThat(Files.readString(file)).isEqualTo("text");
        assertThatThrownBy(() -> RootOnly.directory(file)).isInstanceOf(FileAlreadyExistsException.class);
    }

    /// A draft that a killed writer left may be open to others, who would see through it what is written next.
    @Test
    void writesNothingToAnOldDraft() throws IOException {
        Path draft = open(Files.writeString(directory.resolve("whole.new"), "old"), "rw-r--r--");
        try (var reader = Files.newBufferedReader(draft)) {
            WholeFile.write(directory.resolve("whole"), "secret");
            assertThat(reader.readLine()).isEqualTo("old");
        }
        assertThat(mode(directory.resolve("whole"))).isEqualTo("rw-------");
    }

    @Test
    void closesATreeAndFollowsNoLink() throws IOException {
        Path outside = open(Files.writeString(directory.resolve("outside"), "text"), "rw-r--r--");
        Path tree = open(Files.createDirectory(directory.resolve("tree")), "rwxr-xr-x");
        Path below = open(Files.createDirectory(tree.resolve("below")), "rwxr-xr-x");
        Path program = open(Files.createFile(below.resolve("program")), "rwxr-xr-x");
        Files.createSymbolicLink(below.resolve("link"), outside);
        RootOnly.closeTree(tree);
        assertThat(mode(tree)).isEqualTo("rwx------");
        assertThat(mode(below)).isEqualTo("rwx------");
        assertThat(mode(program)).isEqualTo("rwx------");
        assertThat(mode(outside)).isEqualTo("rw-r--r--");
    }

    private static Path open(Path path, String mode) throws IOException {
        return Files.setPosixFilePermissions(path, PosixFilePermissions.fromString(mode));
    }

    private static String mode(Path path) throws IOException {
        return PosixFilePermissions.toString(Files.getPosixFilePermissions(path, LinkOption.NOFOLLOW_LINKS));
    }
}
