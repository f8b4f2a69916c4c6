package dev.cay.server.store.sqlite;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.cay.server.store.Rows;
import dev.cay.server.store.Store;
import dev.cay.server.store.StoreContract;
import dev.cay.testing.Fast;
import dev.cay.testing.OwnJava;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.jdbi.v3.core.Handle;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Fast
final class SqliteStoreTest extends StoreContract {
    @TempDir
    private Path directory = Path.of("unset");

    @Override
    protected Store open() {
        return SqliteStore.open(directory.resolve("sub/a.db"));
    }

    @Test
    void aFailingTransactionSpoilsNoneOfItsGroup() throws Exception {
        try (var store = SqliteStore.open(directory.resolve("a.db"));
                var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            var go = new CountDownLatch(1);
            // While this one holds the writer, all the others gather into one group.
            var blocker = threads.submit(() -> store.write(handle -> go.await(1, TimeUnit.MINUTES)));
            List<Future<String>> results = new ArrayList<>();
            for (int i = 0; i < 40; i++) {
                int number = i;
                results.add(threads.submit(() -> store.write(handle -> insertOrFail(handle, number))));
            }
            go.countDown();
            assertThat(blocker.get()).isTrue();
            for (int i = 0; i < 40; i++) {
                var result = results.get(i);
                if (i % 4 == 0) {
                    assertThatThrownBy(result::get).hasRootCauseMessage("no " + i);
                } else {
                    assertThat(result.get()).isEqualTo("t" + i);
                }
            }
            assertThat(store.read(Rows::count)).isEqualTo(30);
        }
    }

    /// Kills a program that writes as fast as it can, and counts what it had been promised.
    @Test
    @Timeout(60)
    void everyAcknowledgedRowSurvivesKill() throws Exception {
        Path file = directory.resolve("a.db");
        for (int round = 0; round < 2; round++) {
            var acknowledged = killWhileWriting(file, "r" + round);
            assertThat(acknowledged).hasSizeGreaterThanOrEqualTo(100);
            try (var store = SqliteStore.open(file)) {
                var found = store.read(handle -> handle.createQuery("SELECT id FROM team")
                        .mapTo(String.class)
                        .set());
                assertThat(found).containsAll(acknowledged);
                String health = store.read(handle -> handle.createQuery("PRAGMA integrity_check")
                        .mapTo(String.class)
                        .one());
                assertThat(health).isEqualTo("ok");
            }
        }
    }

    /// SQLite's driver unpacks its native code to a file, and such a program has no time to remove it.
    @Test
    @Timeout(60)
    void aKilledProgramLeavesNothingBesideItsDatabase() throws Exception {
        Path temporary = Files.createDirectory(directory.resolve("tmp"));
        Path state = Files.createDirectory(directory.resolve("state"));
        killWhileWriting(state.resolve("a.db"), "r", "-Djava.io.tmpdir=" + temporary, "-XX:-UsePerfData");
        assertThat(temporary).isEmptyDirectory();
        try (var files = Files.list(state)) {
            assertThat(files.map(file -> file.getFileName().toString())).allMatch(name -> name.startsWith("a.db"));
        }
    }

    private static List<String> killWhileWriting(Path file, String prefix, String... options)
            throws IOException, InterruptedException {
        var acknowledged = new ArrayList<String>();
        var command = OwnJava.command(
                List.of(options),
                System.getProperty("java.class.path"),
                SqliteStoreTest.class.getName(),
                file.toString(),
                prefix);
        var process = new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        try (var lines = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
            String line;
            while ((line = lines.readLine()) != null) {
                if (!line.startsWith("wrote ")) {
                    continue;
                }
                acknowledged.add(line.substring(6));
                if (acknowledged.size() == 100) {
                    // By its handle: the process itself would close the stream with promises still in it.
                    process.toHandle().destroyForcibly();
                }
            }
        } finally {
            process.destroyForcibly().waitFor();
        }
        return acknowledged;
    }

    /// The program that is killed.
    public static void main(String[] arguments) {
        var store = SqliteStore.open(Path.of(arguments[0]));
        for (int thread = 0; thread < 8; thread++) {
            int number = thread;
            Thread.ofPlatform().start(() -> {
                for (int i = 0; ; i++) {
                    String id = arguments[1] + "-" + number + "-" + i;
                    store.write(handle -> Rows.insert(handle, id));
                    // One call, so that a line is never torn.
                    byte[] line = ("wrote " + id + "\n").getBytes(StandardCharsets.UTF_8);
                    System.out.write(line, 0, line.length);
                    System.out.flush();
                }
            });
        }
    }

    private static String insertOrFail(Handle handle, int number) {
        String id = Rows.insert(handle, "t" + number);
        if (number % 4 == 0) {
            throw new IllegalStateException("no " + number);
        }
        return id;
    }
}
