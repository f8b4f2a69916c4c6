package dev.cay.node.ingress;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.testing.NeedsRoot;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Files many times larger than the heap of the node go in and out.
@Timeout(300)
@NeedsRoot
class SmallHeapTest {
    private static final long SIZE = Long.getLong("megabytes", 512) << 20;

    @TempDir
    private Path folder;

    /// The node, in a process of its own: prints its address, ends with its standard input.
    static final class Child {
        public static void main(String[] arguments) throws Exception {
            try (var envd = new TestEnvd()) {
                System.out.println(envd.file(arguments[0]).build().uri());
                System.in.transferTo(java.io.OutputStream.nullOutputStream());
            }
            System.exit(0);
        }
    }

    @Test
    void streamsWithTheMemoryOfAFewBuffers() throws Exception {
        var child = new ProcessBuilder(List.of(
                        Path.of(System.getProperty("java.home"), "bin/java").toString(),
                        "-Xmx48m",
                        "--enable-native-access=ALL-UNNAMED",
                        "-cp",
                        System.getProperty("java.class.path"),
                        Child.class.getName(),
                        folder.resolve("large").toString()))
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        try (var http = HttpClient.newBuilder()
                        .version(HttpClient.Version.HTTP_1_1)
                        .build();
                var said = child.inputReader()) {
            String line = said.readLine();
            while (!line.startsWith("http")) {
                line = Objects.requireNonNull(said.readLine());
            }
            var request = HttpRequest.newBuilder(URI.create(line))
                    .timeout(Duration.ofMinutes(4))
                    .header("X-Access-Token", TestEnvd.TOKEN);
            var sent = http.send(
                    request.copy()
                            .header("Content-Type", "application/octet-stream")
                            .POST(HttpRequest.BodyPublishers.ofInputStream(Counted::new))
                            .build(),
                    HttpResponse.BodyHandlers.ofString());
            assertThat(sent.statusCode()).as(sent.body()).isEqualTo(200);
            var back = http.send(request.build(), HttpResponse.BodyHandlers.ofInputStream());
            assertThat(back.headers().firstValueAsLong("Content-Length")).hasValue(SIZE);
            try (var is = back.body();
                    var expected = new Counted()) {
                byte[] buffer = new byte[1 << 20];
                long at = 0;
                for (int count; (count = is.readNBytes(buffer, 0, buffer.length)) > 0; at += count) {
                    assertThat(java.util.Arrays.equals(buffer, 0, count, expected.readNBytes(count), 0, count))
                            .as("bytes from %d on", at)
                            .isTrue();
                }
                assertThat(at).isEqualTo(SIZE);
            }
        } finally {
            child.getOutputStream().close();
            if (!child.waitFor(1, TimeUnit.MINUTES)) {
                child.destroyForcibly();
            }
        }
    }

    /// Bytes that are told apart by where they are.
    private static final class Counted extends InputStream {
        private long at;

        @Override
        public int read() {
            return at == SIZE ? -1 : value(at++);
        }

        @Override
        public int read(byte[] into, int offset, int length) {
            if (length == 0) {
                return 0;
            }
            int count = (int) Math.min(length, SIZE - at);
            for (int i = 0; i < count; i++) {
                into[offset + i] = (byte) value(at + i);
            }
            at += count;
            return count == 0 ? -1 : count;
        }

        private static int value(long position) {
            return (int) (position ^ position >> 11 ^ position >> 23) & 0xff;
        }
    }
}
