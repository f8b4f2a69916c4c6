package dev.cay.server.log;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.cay.metrics.Meters;
import dev.cay.server.access.SandboxTokens;
import dev.cay.server.sandbox.SandboxDirectory;
import dev.cay.testing.Await;
import dev.cay.testing.Fast;
import dev.cay.wire.BuildId;
import dev.cay.wire.CayException;
import dev.cay.wire.SandboxId;
import dev.cay.wire.TeamId;
import dev.cay.wire.TemplateId;
import dev.cay.wire.node.BuildLine;
import dev.cay.wire.node.LogLine;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.json.JsonMapper;

/// A receiver of OTLP that fails, hangs and comes back.
@Fast
@Timeout(120)
final class LogShipperTest {
    static {
        // Read once by the JDK's client, which other tests of this JVM use with host names of their own.
        System.setProperty("jdk.httpclient.allowRestrictedHeaders", "host");
    }

    private static final LogShipper.Patience SHORT =
            new LogShipper.Patience(Duration.ofMillis(500), Duration.ofMillis(20), 3);

    @TempDir
    private Path directory = Path.of("unset");

    private final List<String> bodies = new CopyOnWriteArrayList<>();
    private final List<String> keys = new CopyOnWriteArrayList<>();
    private final AtomicInteger requests = new AtomicInteger();
    private final CountDownLatch end = new CountDownLatch(1);
    private final Meters meters = new Meters();
    private volatile String mode = "good";
    private HttpServer receiver;

    @BeforeEach
    void start() throws Exception {
        receiver = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        receiver.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
        receiver.createContext("/v1/logs", this::answer);
        receiver.start();
    }

    @AfterEach
    void stop() {
        end.countDown();
        receiver.stop(0);
    }

    private void answer(HttpExchange exchange) throws IOException {
        requests.incrementAndGet();
        String body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
        try {
            switch (mode) {
                case "hangs" -> end.await(60, TimeUnit.SECONDS);
                case "hangs behind the head" -> {
                    exchange.sendResponseHeaders(200, 100);
                    exchange.getResponseBody().flush();
                    end.await(60, TimeUnit.SECONDS);
                }
                case "good" -> {
                    bodies.add(body);
                    keys.add(String.valueOf(exchange.getRequestHeaders().getFirst("X-Key")));
                    exchange.sendResponseHeaders(200, -1);
                }
                default -> exchange.sendResponseHeaders(Integer.parseInt(mode), -1);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        exchange.close();
    }

    private LogShipper shipper() {
        var settings = new OtlpSettings(
                OtlpSettings.of(
                                "http://127.0.0.1:%d/"
                                        .formatted(receiver.getAddress().getPort()),
                                null)
                        .endpoint(),
                Map.of("X-Key", "geheim"));
        var tokens = SandboxTokens.open(directory.resolve("secret"), new SecureRandom());
        var shipper = new LogShipper(settings, new SandboxDirectory(tokens), meters, SHORT);
        shipper.start();
        return shipper;
    }

    private static void add(LogShipper shipper, String message) {
        shipper.add(
                new SandboxId("i1"),
                new LogLine(
                        Instant.parse("2026-09-21T10:00:00Z"),
                        LogLine.Level.WARN,
                        "process",
                        message,
                        Map.of("pid", "7")));
    }

    private boolean received(String text) {
        return bodies.stream().anyMatch(body -> body.contains(text));
    }

    private double meter(String name) {
        return new String(meters.page(null).text(), StandardCharsets.UTF_8)
                .lines()
                .filter(line -> line.startsWith(name + " "))
                .mapToDouble(line -> Double.parseDouble(line.substring(name.length() + 1)))
                .findFirst()
                .orElse(0);
    }

    @Test
    void aLineArrivesWithAllThatIsKnownOfIt() {
        try (var shipper = shipper()) {
            add(shipper, "hello");
            Await.until("the receiver has the line", () -> received("hello"));
        }
        assertThat(bodies.getFirst())
                .contains(
                        "\"timeUnixNano\":\"1789984800000000000\"",
                        "\"severityNumber\":13",
                        "\"severityText\":\"WARN\"")
                .contains("\"key\":\"pid\"", "{\"stringValue\":\"7\"}", "{\"stringValue\":\"hello\"}")
                .contains("cay.sandbox.id", "service.name");
        assertThat(keys.getFirst()).isEqualTo("geheim");
        assertThat(meter("cay_otlp_lines_total")).isEqualTo(1);
    }

    /// A receiver that is strict about Unicode refuses a whole group for half a character.
    @Test
    void aLongLineIsCutBetweenCharacters() {
        try (var shipper = shipper()) {
            add(shipper, "x".repeat(1999) + "\ud83d\ude00 and more");
            Await.until("the receiver has the line", () -> received("xxx"));
        }
        String body = JsonMapper.shared()
                .readTree(bodies.getFirst())
                .at("/resourceLogs/0/scopeLogs/0/logRecords/0/body/stringValue")
                .asString("");
        assertThat(body).startsWith("xxx").endsWith("x…");
        assertThat(StandardCharsets.UTF_8.newEncoder().canEncode(body)).isTrue();
    }

    @Test
    void aReceiverThatComesBackGetsWhatItRefused() {
        mode = "503";
        try (var shipper = new LogShipper(
                shipperSettings(),
                directoryOfNone(),
                meters,
                new LogShipper.Patience(Duration.ofMillis(500), Duration.ofMillis(20), 12))) {
            shipper.start();
            add(shipper, "one");
            Await.until("three attempts", () -> requests.get() >= 3);
            mode = "good";
            Await.until("the receiver has the line", () -> received("one"));
        }
        assertThat(bodies).hasSize(1);
    }

    private OtlpSettings shipperSettings() {
        return OtlpSettings.of("http://127.0.0.1:" + receiver.getAddress().getPort(), null);
    }

    private SandboxDirectory directoryOfNone() {
        return new SandboxDirectory(SandboxTokens.open(directory.resolve("secret"), new SecureRandom()));
    }

    @Test
    void aReceiverThatHangsOrRefusesCostsOnlyItsLines() {
        for (String bad : List.of("hangs", "hangs behind the head", "400", "503")) {
            mode = bad;
            double before = meter("cay_otlp_lines_dropped_total");
            int asked = requests.get();
            try (var shipper = shipper()) {
                add(shipper, "lost by " + bad);
                Await.until("lines are counted as dropped", () -> meter("cay_otlp_lines_dropped_total") > before);
                assertThat(requests.get() - asked).as(bad).isEqualTo(bad.equals("400") ? 1 : 3);
                mode = "good";
                add(shipper, "after " + bad);
                Await.until("the receiver has the line after the failure", () -> received("after " + bad));
            }
            assertThat(received("lost by " + bad)).isFalse();
        }
    }

    /// A sandbox that says much must neither wait nor fill the memory.
    @Test
    void whoAddsNeverWaitsAndTheQueueIsBounded() {
        mode = "hangs";
        double before = meter("cay_otlp_lines_dropped_total");
        try (var shipper = shipper()) {
            add(shipper, "first");
            Await.until("the first request", () -> requests.get() > 0);
            for (int i = 0; i < 20_000; i++) {
                add(shipper, "x".repeat(100));
            }
            // The shipper holds a full queue and one batch that it sends. All other lines are dropped.
            assertThat(meter("cay_otlp_lines_dropped_total") - before).isGreaterThanOrEqualTo(20_000 - 8192 - 1024);
        }
    }

    /// A team makes a build print as much as it likes.
    @Test
    void buildsLeaveHalfOfTheQueueToSandboxes() {
        mode = "hangs";
        try (var shipper = patientShipper()) {
            add(shipper, "first");
            Await.until("the first request", () -> requests.get() > 0);
            var line = new BuildLine(Instant.EPOCH, LogLine.Level.INFO, null, "noise");
            for (int i = 0; i < 10_000; i++) {
                shipper.add(new TeamId("t"), new TemplateId("x"), new BuildId("b"), line);
            }
            double dropped = meter("cay_otlp_lines_dropped_total");
            assertThat(dropped).isGreaterThanOrEqualTo(10_000 - 4096 - 1024);
            for (int i = 0; i < 2_000; i++) {
                add(shipper, "of a sandbox");
            }
            assertThat(meter("cay_otlp_lines_dropped_total")).isEqualTo(dropped);
            mode = "good";
            end.countDown();
            Await.until("the lines of the sandbox arrive", () -> received("of a sandbox"));
        }
    }

    /// One that waits longer for an answer than a busy machine needs for a test.
    private LogShipper patientShipper() {
        var patience = new LogShipper.Patience(Duration.ofMinutes(5), Duration.ofMillis(20), 1);
        var shipper = new LogShipper(shipperSettings(), directoryOfNone(), meters, patience);
        shipper.start();
        return shipper;
    }

    @Test
    void headersComeFromAFileThatOnlyRootReads() throws Exception {
        Path file = Files.writeString(directory.resolve("headers"), "Authorization: Bearer geheim\n\nX-A:b\n");
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
        assertThat(OtlpSettings.of("https://c.example/", file).headers())
                .isEqualTo(Map.of("Authorization", "Bearer geheim", "X-A", "b"));
        assertThat(String.valueOf(
                        OtlpSettings.of("https://c.example:1/otlp", null).endpoint()))
                .isEqualTo("https://c.example:1/otlp/v1/logs");
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r-----"));
        assertThatThrownBy(() -> OtlpSettings.of("https://c.example/", file))
                .isInstanceOf(CayException.class)
                .hasMessageContaining("logs.otlp.headersFile")
                .hasMessageContaining("chmod 600")
                .hasMessageNotContaining("geheim");
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
        Files.writeString(file, "Content-Length: 7\n");
        assertThatThrownBy(() -> OtlpSettings.of("https://c.example/", file))
                .hasMessageContaining("'Content-Length', which cannot be sent");
        Files.writeString(file, "geheim\n");
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
        assertThatThrownBy(() -> OtlpSettings.of("https://c.example/", file))
                .hasMessageContaining("Name: value")
                .hasMessageNotContaining("geheim");
    }
}
