package dev.cay.acceptance;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.platform.NpmClient;
import dev.cay.platform.OwnCay;
import dev.cay.testing.NeedsRoot;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// A machine that is full says so to the official client, and goes on when it is not any more.
@NeedsRoot
final class NoRoomTest {
    /// Less than what a node wants to be free.
    private static final long LEFT = 16L << 20;

    @Test
    void theClientShowsWhyAMachineTakesNoMoreSandboxes() throws Exception {
        var settings = Map.of("storage.poolSizeMB", "1GB", "sandboxes.spares", "0");
        try (var cay = OwnCay.start(settings)) {
            Path filler = fill(cay.directory().resolve("state/pool/filler"));
            var script = NpmClient.e2b()
                    .program(cay.environment(OwnCay.Mode.URL), "node", "src/test/js/no-room.mjs")
                    .redirectErrorStream(true)
                    .start();
            try (var lines = script.inputReader(StandardCharsets.UTF_8);
                    var orders = script.outputWriter(StandardCharsets.UTF_8)) {
                assertThat(read(lines.readLine()).get("message").asString())
                        .contains("temporarily unavailable")
                        .contains("this machine has no room for another sandbox: its pool is nearly full");
                Files.delete(filler);
                new ProcessBuilder("sync", "-f", filler.getParent().toString())
                        .start()
                        .waitFor();
                orders.write("go on\n");
                orders.flush();
                assertThat(read(lines.readLine()).get("stdout").asString()).isEqualTo("back\n");
            } finally {
                script.destroyForcibly();
            }
        }
    }

    private static JsonNode read(String line) {
        assertThat(line).startsWith("{");
        return JsonMapper.shared().readTree(line);
    }

    /// All but a little. To write until nothing is left takes half a minute, and btrfs takes as long again to give the
    /// space back.
    private static Path fill(Path filler) throws IOException, InterruptedException {
        long free = Files.getFileStore(filler.getParent()).getUsableSpace();
        var filling = new ProcessBuilder("fallocate", "-l", Long.toString(free - LEFT), filler.toString()).inheritIO();
        assertThat(filling.start().waitFor()).isZero();
        return filler;
    }
}
