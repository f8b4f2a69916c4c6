package dev.cay.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.node.host.HostLedger;
import dev.cay.node.host.Programs;
import dev.cay.platform.OwnCay;
import dev.cay.testing.Await;
import dev.cay.testing.NeedsRoot;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// Whole daemons, side by side, killed, taken off the host: what an operator meets.
@NeedsRoot
final class HostCareTest {
    private static final Duration LIMIT = Duration.ofMinutes(5);
    private static final List<String> SETTINGS =
            List.of("net/ipv4/ip_forward", "fs/inotify/max_user_instances", "kernel/pid_max", "kernel/pty/max");

    @TempDir
    private Path temporary = Path.of("unset");

    private final HttpClient http = HttpClient.newHttpClient();
    private final Programs programs = Programs.ofHost();

    @Test
    void twoInstancesShareAHostAndTheLastToLeavePutsItBack() throws Exception {
        var before = withoutCay();
        var second = OwnCay.start(Map.of());
        try (second) {
            Map<String, String> during;
            try (var first = OwnCay.start(Map.of())) {
                var one = create(first, "{}");
                var two = create(second, "{}");
                assertThat(run(first, one, "echo one")).contains("b25l");
                assertThat(run(second, two, "echo two")).contains("dHdv");
                during = settings();
                assertThat(during).containsEntry("fs/inotify/max_user_instances", "1048576");
                refusesWhatTheOtherHas(first);
            }
            assertThat(settings()).as("the other still needs them").isEqualTo(during);
            var three = create(second, "{}");
            assertThat(run(second, three, "echo two")).contains("dHdv");
            // Forgiven by the others, taken up by its own.
            second.crash();
            second.startAgain();
            assertThat(run(second, three, "echo two")).contains("dHdv");
        }
        assertPutBack(before);
    }

    private void refusesWhatTheOtherHas(OwnCay first) throws Exception {
        var own = new HashMap<String, String>();
        own.put("CAY_INSTANCE", "hcx");
        own.put("CAY_STATE_DIR", temporary.resolve("state").toString());
        own.put("CAY_RUN_DIR", temporary.resolve("run").toString());
        own.put("CAY_HTTP_PORT", "1");
        own.put("CAY_HTTP_TLS_PORT", "2");
        own.put("CAY_STORAGE_UID_BASE", "70000");
        own.put("CAY_NETWORK_RANGE", "10.199.3.0/24");
        String who = "instance \"%s\" (pid %d)"
                .formatted(first.instance(), first.daemon().pid());
        refuses(first, own, "CAY_NETWORK_RANGE", "cay: network.range 10.", who);
        refuses(first, own, "CAY_STORAGE_UID_BASE", "cay: storage.uidBase ", who);
        refuses(first, own, "CAY_HTTP_PORT", "cay: http.port " + first.port(), who);
        refuses(first, own, "CAY_STATE_DIR", "cay: stateDir ", who);
        refuses(first, own, "CAY_INSTANCE", "cay: instance ", "is the name of another Cay");
    }

    /// With everything of its own but that one setting, which is the first's.
    private void refuses(OwnCay first, Map<String, String> own, String same, String start, String has)
            throws Exception {
        var builder = first.cay("up");
        own.forEach((name, value) -> {
            if (!name.equals(same)) {
                builder.environment().put(name, value);
            }
        });
        var result = finish(builder);
        assertThat(result.code()).as(result.text()).isEqualTo(1);
        assertThat(result.text()).startsWith(start).contains(has);
        assertThat(result.text().lines()).as("one sentence").hasSize(1);
    }

    @Test
    void theBundleForSupportHoldsNoSecret() throws Exception {
        try (var cay = OwnCay.start(Map.of())) {
            String key = cay.environment(OwnCay.Mode.URL).get("E2B_API_KEY");
            var sandbox = create(cay, "{\"PLANTED\":\"hunter2-in-environment\"}");
            run(cay, sandbox, "echo hunter3-in-a-file > /root/x; echo hunter4-printed; sleep 0 hunter5-argument");
            Path log = cay.directory().resolve("state/logs/cay.log");
            Files.writeString(
                    log,
                    Files.readString(log)
                            + "calling https://joe:hunter6@proxy.example/ token=hunter7 Authorization: Bearer hunter8\n"
                            + "key " + key + " of "
                            + sandbox.get("envdAccessToken").stringValue() + "\n");
            Path bundle = temporary.resolve("bundle.tar.gz");
            var builder = cay.cay("support", "--output", bundle.toString());
            builder.environment().put("https_proxy", "http://ann:hunter9@proxy.example:3128");
            var made = finish(builder);
            assertThat(made.code()).as(made.text()).isZero();

            Path unpacked = Files.createDirectory(temporary.resolve("unpacked"));
            programs.require(LIMIT, "tar", "-xzf", bundle.toString(), "-C", unpacked.toString());
            var all = new StringBuilder();
            try (var files = Files.list(unpacked)) {
                for (Path file : files.toList()) {
                    all.append(Files.readString(file));
                }
            }
            assertThat(all.toString())
                    .contains("cay_" + cay.instance(), "http.port", "runc version", "ready")
                    .contains("proxy.example")
                    .doesNotContain(
                            "hunter", key, sandbox.get("envdAccessToken").stringValue());
            assertThat(Files.getPosixFilePermissions(bundle)).hasSize(2);
        }
    }

    @Test
    void uninstallTakesAKilledCayOffTheHostTwice() throws Exception {
        var before = withoutCay();
        try (var cay = OwnCay.start(Map.of())) {
            create(cay, "{}");
            assertThat(finish(cay.cay("volume", "create", "data")).code()).isZero();
            assertThat(finish(cay.cay("pool")).text())
                    .contains("size   6.0 GB")
                    .contains("what sandboxes hold")
                    .containsPattern("what volumes hold, \\d+ MB in all, largest first:\n  [0-9a-f-]{36} \\d+ MB");
            assertThat(finish(cay.cay("pool", "grow", "+512MB")).text())
                    .endsWith("the pool has 6.5 GB now; it had 6.0 GB");
            assertThat(finish(cay.cay("pool", "grow", "1GB")).text()).contains("cannot be made smaller");
            assertThat(onHost(cay)).isNotEmpty();
            var plan = finish(cay.cay("uninstall", "--dry-run", "--purge"));
            assertThat(plan.text())
                    .contains("would end", cay.directory().resolve("state").toString());
            assertThat(cay.daemon().isAlive()).isTrue();

            cay.crash();
            var kept = finish(cay.cay("uninstall"));
            assertThat(kept.code()).as(kept.text()).isZero();
            assertThat(kept.text()).contains("These stay", "its data is kept");
            assertNothingOnHost(cay);
            assertPutBack(before);
            assertThat(cay.directory().resolve("state/cay.db")).exists();

            cay.startAgain();
            create(cay, "{}");
            var gone = finish(uncached(cay, "uninstall", "--purge"));
            assertThat(gone.code()).as(gone.text()).isZero();
            assertNothingOnHost(cay);
            assertThat(cay.directory().resolve("state")).doesNotExist();
            assertThat(cay.directory().resolve("run")).doesNotExist();
            assertThat(cay.directory().resolve("cay.yaml")).doesNotExist();
            Files.writeString(cay.directory().resolve("cay.yaml"), "instance: " + cay.instance() + "\n");
            var again = uncached(cay, "uninstall", "--purge");
            again.environment()
                    .put("CAY_STATE_DIR", cay.directory().resolve("state").toString());
            again.environment()
                    .put("CAY_RUN_DIR", cay.directory().resolve("run").toString());
            var twice = finish(again);
            assertThat(twice.code()).as(twice.text()).isZero();
            Files.writeString(
                    cay.directory().resolve("cay.yaml"),
                    "instance: %s\nstateDir: %s\nrunDir: %s\n"
                            .formatted(
                                    cay.instance(),
                                    cay.directory().resolve("state"),
                                    cay.directory().resolve("run")));
        }
        assertPutBack(before);
    }

    /// What the host's settings are where no Cay is; empty when another one is, which would come or go meanwhile.
    private static Optional<Map<String, String>> withoutCay() throws IOException {
        return HostLedger.ofHost().instances().isEmpty() ? Optional.of(settings()) : Optional.empty();
    }

    private static void assertPutBack(Optional<Map<String, String>> before) throws IOException {
        var now = withoutCay();
        if (before.isPresent() && now.isPresent()) {
            assertThat(now).isEqualTo(before);
        }
    }

    /// The machine's cache is not the test's to delete.
    private ProcessBuilder uncached(OwnCay cay, String... arguments) throws IOException {
        var builder = cay.cay(arguments);
        builder.environment().put("CAY_CACHE_DIR", temporary.resolve("cache").toString());
        return builder;
    }

    /// A process of somebody else that begins a mount namespace holds copies of our mounts for a moment, and with them
    /// the loop device.
    private void assertNothingOnHost(OwnCay cay) {
        Await.until("nothing of this Cay is left on the host", () -> onHost(cay).isEmpty());
    }

    private List<String> onHost(OwnCay cay) throws IOException {
        var found = new ArrayList<String>();
        String place = cay.directory().toString();
        String name = "cay-" + cay.instance();
        programs.require(LIMIT, "cat", "/proc/mounts")
                .lines()
                .filter(line -> line.contains(place))
                .forEach(found::add);
        programs.require(LIMIT, "losetup", "-l", "-n", "-O", "BACK-FILE")
                .lines()
                .filter(line -> line.contains(place))
                .forEach(found::add);
        programs.require(LIMIT, "nft", "list", "tables")
                .lines()
                .filter(line -> line.endsWith("cay_" + cay.instance()))
                .forEach(found::add);
        programs.require(LIMIT, "ip", "-o", "link")
                .lines()
                .filter(line -> line.contains("cay" + cay.instance() + "-"))
                .forEach(found::add);
        programs.require(LIMIT, "find", "/sys/fs/cgroup", "-maxdepth", "3", "-name", name)
                .lines()
                .forEach(found::add);
        return found;
    }

    private static Map<String, String> settings() throws IOException {
        var values = new TreeMap<String, String>();
        for (String setting : SETTINGS) {
            try (var in = Files.newInputStream(Path.of("/proc/sys", setting))) {
                values.put(setting, new String(in.readAllBytes(), UTF_8).strip());
            }
        }
        return values;
    }

    private JsonNode create(OwnCay cay, String variables) throws Exception {
        var environment = cay.environment(OwnCay.Mode.URL);
        var answer = http.send(
                HttpRequest.newBuilder(URI.create(environment.get("E2B_API_URL") + "/v2/sandboxes"))
                        .header("X-API-Key", environment.get("E2B_API_KEY"))
                        .header("Content-Type", "application/json")
                        .timeout(LIMIT)
                        .POST(HttpRequest.BodyPublishers.ofString(
                                "{\"templateID\":\"base\",\"timeout\":600,\"envVars\":%s}".formatted(variables)))
                        .build(),
                HttpResponse.BodyHandlers.ofString());
        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(201);
        return JsonMapper.shared().readTree(answer.body());
    }

    /// All events of a command, as text.
    private String run(OwnCay cay, JsonNode sandbox, String script) throws Exception {
        byte[] message = "{\"process\":{\"cmd\":\"/bin/bash\",\"args\":[\"-c\",\"%s\"]},\"stdin\":false}"
                .formatted(script)
                .getBytes(UTF_8);
        var framed = new ByteArrayOutputStream();
        framed.write(0);
        framed.writeBytes(ByteBuffer.allocate(4).putInt(message.length).array());
        framed.writeBytes(message);
        var answer = http.send(
                HttpRequest.newBuilder(URI.create("http://127.0.0.1:%d/process.Process/Start".formatted(cay.port())))
                        .header("E2b-Sandbox-Id", sandbox.get("sandboxID").stringValue())
                        .header("E2b-Sandbox-Port", "49983")
                        .header("X-Access-Token", sandbox.get("envdAccessToken").stringValue())
                        .header("Content-Type", "application/connect+json")
                        .timeout(LIMIT)
                        .POST(HttpRequest.BodyPublishers.ofByteArray(framed.toByteArray()))
                        .build(),
                HttpResponse.BodyHandlers.ofString());
        assertThat(answer.body()).contains("\"exited\":true");
        return answer.body();
    }

    private record Result(int code, String text) {}

    private Result finish(ProcessBuilder builder) throws Exception {
        Path output = Files.createTempFile(temporary, "run", ".out");
        var process = builder.redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
        assertThat(process.waitFor(LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();
        return new Result(process.exitValue(), Files.readString(output).strip());
    }
}
