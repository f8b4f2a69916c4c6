package dev.cay.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.server.store.Store;
import dev.cay.server.store.sqlite.TestStore;
import dev.cay.testing.Await;
import dev.cay.testing.Fast;
import dev.cay.wire.VolumeId;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// The daemon is killed at each step of the deletion of a volume.
@Fast
@Timeout(300)
final class VolumeCrashTest {
    private static final int MARKED = 1;

    @TempDir
    Path directory;

    /// Deletes the only volume.
    static final class Deleting {
        private Deleting() {}

        public static void main(String[] arguments) throws IOException {
            var directory = Path.of(arguments[1]);
            String key = Files.readString(directory.resolve("key"));
            String id = Files.readString(directory.resolve("volume"));
            try (var cay = TestServer.on(open(directory), directory, holding(id), new FakeClock(), key)) {
                KilledAtAStep.listen(arguments[0]);
                if (cay.call("DELETE", "/volumes/" + id).status() != 204) {
                    throw new IllegalStateException("not deleted");
                }
            }
        }
    }

    private static Store open(Path directory) {
        return TestStore.open(directory.resolve("cay.db"));
    }

    private static FakeNode holding(String... volumes) {
        var node = new FakeNode();
        for (String volume : volumes) {
            node.volumes.create(new VolumeId(volume), 1 << 20);
        }
        return node;
    }

    @Test
    void aKillAtAnyStepOfADeletionLeavesNothing() throws Exception {
        int steps = 0;
        boolean killed = true;
        while (killed) {
            String id = make();
            killed = KilledAtAStep.run(Deleting.class, steps + 1, directory);
            steps += killed ? 1 : 0;
            var node = steps == MARKED && killed ? holding(id) : holding();
            try (var cay = TestServer.on(open(directory), directory, node, new FakeClock(), key())) {
                assertThat(cay.call("GET", "/volumes").text())
                        .as("after step %d", steps)
                        .isEqualTo("[]");
                assertThat(cay.call("GET", "/volumes/" + id).status()).isEqualTo(404);
                assertThat(cay.call("DELETE", "/volumes/" + id).status()).isEqualTo(404);
                Await.until("the node has no volume", node.volumes.sizes::isEmpty);
                Await.until(
                        "the record is gone",
                        () -> cay.store.read(handle -> handle.createQuery("SELECT COUNT(*) FROM volume")
                                        .mapTo(Integer.class)
                                        .one())
                                == 0);
            }
        }
        assertThat(steps).as("marked, removed, forgotten").isEqualTo(3);
    }

    private String key() throws IOException {
        Path file = directory.resolve("key");
        return Files.exists(file) ? Files.readString(file) : "";
    }

    /// @return the id of a new volume, whose name is that of the one before
    private String make() throws Exception {
        try (var cay = TestServer.on(open(directory), directory, holding(), new FakeClock(), key())) {
            Files.writeString(directory.resolve("key"), cay.key);
            var made = cay.call("POST", "/volumes", "{\"name\": \"data\"}");
            assertThat(made.status()).as(made.text()).isEqualTo(201);
            String id = made.json().get("volumeID").stringValue();
            Files.writeString(directory.resolve("volume"), id);
            return id;
        }
    }
}
