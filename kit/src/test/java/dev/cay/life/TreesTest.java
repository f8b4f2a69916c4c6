package dev.cay.life;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.testing.Fast;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Fast
class TreesTest {
    @TempDir
    Path directory;

    @Test
    void deletesLinksAndNotWhatTheyPointTo() throws Exception {
        Path kept = Files.writeString(
                Files.createDirectory(directory.resolve("other")).resolve("kept"), "kept");
        Path tree = tree();
        Files.createSymbolicLink(tree.resolve("out"), directory.resolve("other"));
        Trees.delete(tree);
        Trees.delete(tree);
        assertThat(tree).doesNotExist();
        assertThat(kept).hasContent("kept");
    }

    @Test
    void copiesInPlaceOfWhatWasThere() throws Exception {
        Path tree = tree();
        Files.createSymbolicLink(tree.resolve("nowhere"), Path.of("gone"));
        Path copy = Files.createDirectory(directory.resolve("copy"));
        Files.writeString(copy.resolve("old"), "old");
        Trees.copy(tree, copy);
        assertThat(copy.resolve("old")).doesNotExist();
        assertThat(copy.resolve("a/b/file")).hasContent("text");
        assertThat(Files.readSymbolicLink(copy.resolve("nowhere"))).isEqualTo(Path.of("gone"));
    }

    @Test
    void takesASourceThatIsNotThereForAnEmptyOne() throws Exception {
        Path copy = tree();
        Trees.copy(directory.resolve("none"), copy);
        assertThat(copy).isEmptyDirectory();
    }

    private Path tree() throws Exception {
        Path tree = directory.resolve("tree");
        Files.writeString(Files.createDirectories(tree.resolve("a/b")).resolve("file"), "text");
        return tree;
    }
}
