package dev.cay.bench;

import dev.cay.server.log.SandboxLogs;
import dev.cay.server.ring.RingFile;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;

/// Writes lines to the logs of sandboxes that are long gone, as a daemon does while they run.
final class FilledLogs {
    private static final int SANDBOXES = 5000;
    /// Lines that are handed over at once, and after how many the writer is waited for.
    private static final int PORTION = 1000;

    private static final int WAIT_EVERY = 20 * PORTION;

    private FilledLogs() {}

    /// @param file of a daemon that does not run
    static void fill(Path file, int lines) {
        byte[] json =
                "{\"at\":%d,\"level\":\"INFO\",\"logger\":\"process\",\"message\":\"Process started\",\"fields\":{\"cmd\":\"true\"}}"
                        .formatted(System.currentTimeMillis())
                        .getBytes(StandardCharsets.UTF_8);
        byte[] line = ByteBuffer.allocate(json.length + 2)
                .putShort((short) json.length)
                .put(json)
                .array();
        try (var ring = new RingFile(file, SandboxLogs.LIMITS, InstantSource.system())) {
            List<RingFile.Append> portion = new ArrayList<>();
            for (int i = 0; i < lines; i++) {
                portion.add(new RingFile.Append("filled" + i / 40 % SANDBOXES, _ -> line, line.length));
                if (portion.size() == PORTION) {
                    ring.append(List.copyOf(portion));
                    portion.clear();
                }
                if (i % WAIT_EVERY == 0) {
                    ring.read("nobody");
                }
            }
            ring.append(portion);
            if (ring.dropped() > 0) {
                throw new IllegalStateException(ring.dropped() + " lines were not written");
            }
        }
    }
}
