package dev.cay.node.linux;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.testing.Fast;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Fast
class EntryReaderTest {
    @TempDir
    private Path outside;

    @TempDir
    private Path inside;

    private Descriptor directory;

    @BeforeEach
    void open() throws IOException {
        directory = FileCalls.open(inside.toString(), FileCalls.READ | FileCalls.DIRECTORY, 0);
    }

    @AfterEach
    void close() {
        directory.close();
    }

    private static void mark(Path file, String name) throws IOException {
        try (var open = FileCalls.open(file.toString(), FileCalls.READ, 0)) {
            Attributes.write(open, name, "value");
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void readsOneEntryAfterTheOther(boolean newKernel) throws IOException {
        Files.writeString(inside.resolve("plain"), "four");
        Files.writeString(inside.resolve("ümlaut"), "");
        Files.createDirectory(inside.resolve("folder"));
        mark(inside.resolve("ümlaut"), "user.one");
        var many = new ArrayList<String>();
        Files.writeString(inside.resolve("many"), "");
        for (int i = 0; i < 60; i++) {
            many.add("user.a-rather-long-name-%d".formatted(i));
            mark(inside.resolve("many"), many.getLast());
        }
        try (var reader = new EntryReader(newKernel)) {
            var plain = reader.find(directory, "plain");
            assertThat(plain).isEqualTo(FileCalls.stat(directory, "plain"));
            assertThat(reader.find(directory, "gone")).isNull();
            assertThat(reader.find(directory, "folder")).isEqualTo(FileCalls.stat(directory, "folder"));
            assertThat(reader.attributes(directory, "plain")).isEmpty();
            assertThat(reader.attributes(directory, "ümlaut")).containsExactly("user.one");
            assertThat(reader.attributes(directory, "many")).containsExactlyInAnyOrderElementsOf(many);
            assertThat(reader.attributes(directory, "plain")).isEmpty();
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void followsNoLink(boolean newKernel) throws IOException {
        var secret = Files.writeString(outside.resolve("secret"), "of the host");
        mark(secret, "user.secret");
        Files.createSymbolicLink(inside.resolve("link"), secret);
        Files.writeString(inside.resolve("control"), "");
        mark(inside.resolve("control"), "user.secret");
        try (var reader = new EntryReader(newKernel)) {
            var link = reader.find(directory, "link");
            assertThat(link).isNotNull();
            assertThat(link.symlink()).isTrue();
            assertThat(reader.attributes(directory, "link")).isEmpty();
            assertThat(reader.attributes(directory, "control")).isEqualTo(List.of("user.secret"));
        }
    }
}
