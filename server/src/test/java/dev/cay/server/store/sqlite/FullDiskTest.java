package dev.cay.server.store.sqlite;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.cay.server.store.Store;
import dev.cay.testing.NeedsRoot;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// A real disk that is too small, and a file that is no database.
@NeedsRoot
final class FullDiskTest {
    @TempDir
    private Path directory = Path.of("unset");

    @BeforeEach
    void mount() throws Exception {
        run("mount", "-t", "tmpfs", "-o", "size=4m", "cay-test", directory.toString());
    }

    /// Sandboxes that others start meanwhile may hold a copy of the mount for a moment.
    @AfterEach
    void unmount() throws Exception {
        run("umount", "--lazy", directory.toString());
    }

    @Test
    void aFullDiskIsOneSentenceAndNothingIsLostOnceThereIsSpaceAgain() throws Exception {
        Path file = directory.resolve("cay.db");
        try (var store = SqliteStore.open(file)) {
            write(store, "before");
            Path filler = fill();
            assertThatThrownBy(() -> {
                        for (int i = 0; i < 1000; i++) {
                            write(store, "x".repeat(10_000) + i);
                        }
                    })
                    .isInstanceOfSatisfying(
                            CayException.class, e -> assertThat(e.kind()).isEqualTo(ErrorKind.UNAVAILABLE))
                    .hasMessageContaining("the disk with the database")
                    .hasMessageNotContaining("\n");
            long kept = count(store);
            assertThat(kept).isPositive();
            assertThatThrownBy(() -> write(store, "y".repeat(100_000))).isInstanceOf(CayException.class);
            assertThat(count(store)).as("what was refused is not there").isEqualTo(kept);

            Files.delete(filler);
            write(store, "after");
            assertThat(count(store)).isEqualTo(kept + 1);
            assertThat(store.<String>read(handle -> handle.createQuery("PRAGMA integrity_check")
                            .mapTo(String.class)
                            .one()))
                    .isEqualTo("ok");
        }
        try (var store = SqliteStore.open(file)) {
            assertThat(count(store)).isGreaterThan(1);
        }
    }

    @Test
    void aDamagedFileIsOneSentence() throws Exception {
        Path file = directory.resolve("cay.db");
        try (var store = SqliteStore.open(file)) {
            for (int i = 0; i < 100; i++) {
                write(store, "x".repeat(1000) + i);
            }
        }
        byte[] bytes = Files.readAllBytes(file);
        for (int i = 4096; i < bytes.length; i++) {
            bytes[i] = (byte) (i * 31);
        }
        Files.write(file, bytes);
        assertDamaged(file);
        Files.writeString(file, "not a database at all".repeat(100));
        assertDamaged(file);
        Files.write(file, new byte[0]);
        SqliteStore.open(file).close();
    }

    private static void assertDamaged(Path file) {
        assertThatThrownBy(() -> SqliteStore.open(file).close())
                .isInstanceOf(CayException.class)
                .hasMessageStartingWith("the database %s is damaged; put back a copy".formatted(file))
                .hasMessageNotContaining("\n");
    }

    private Path fill() throws IOException {
        Path filler = directory.resolve("filler");
        try (var out = Files.newOutputStream(filler, StandardOpenOption.CREATE)) {
            while (true) {
                out.write(new byte[16_384]);
            }
        } catch (IOException full) {
            return filler;
        }
    }

    private static void write(Store store, String name) {
        store.write(handle -> handle.execute(
                "INSERT INTO team (id, name, slug, created_at) VALUES (hex(randomblob(8)), ?, hex(randomblob(8)), 1)",
                name));
    }

    private static long count(Store store) {
        return store.read(handle -> handle.createQuery("SELECT count(*) FROM team")
                .mapTo(Long.class)
                .one());
    }

    private static void run(String... command) throws Exception {
        var process = new ProcessBuilder(command).inheritIO().start();
        assertThat(process.waitFor(1, TimeUnit.MINUTES)).isTrue();
        assertThat(process.exitValue()).isZero();
    }
}
