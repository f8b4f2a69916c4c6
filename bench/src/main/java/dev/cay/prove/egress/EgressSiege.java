package dev.cay.prove.egress;

import dev.cay.node.host.Programs;
import dev.cay.platform.OwnCay;
import dev.cay.platform.RemoteSandbox;
import dev.cay.prove.egress.Way.Expected;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/// The part of the proof that runs inside the lab's host: a daemon, a sandbox that tries the ways, and its neighbour.
/// Prints three lines for each way: `way`, its number, and the result without rules, with rules, and inspected; and one
/// for each control that is not a sandbox without rules.
public final class EgressSiege {
    private static final int SERVER = 8000;
    private static final String SCRIPT = "/tmp/ways.py";
    private static final String PRIVATE = "10.1.2.3:80";
    private static final Duration LIMIT = Duration.ofSeconds(30);
    private static final String PORTS = "net.ipv4.ip_local_port_range";
    private static final int FIRST_PORT = 40_000;
    private static final String CATALOG = """
            servers:
              lab: {title: Lab, category: tests, launch: {remote: {url: 'https://mcp.allowed.test/mcp'}}}
              guarded: {title: Guarded, category: tests, launch: {remote: {url: 'https://www.allowed.test/guarded'}}}
            """;

    private EgressSiege() {}

    /// @param arguments a directory that may be written to
    public static void main(String[] arguments) throws Exception {
        var directory = Path.of(arguments[0]);
        Path catalog = directory.resolve("catalog.yaml");
        Files.writeString(catalog, CATALOG);
        try (var cay = OwnCay.start(Map.of("network.nameservers", "8.8.8.8", "mcp.catalogs", catalog.toString()))) {
            try {
                lay(cay, directory);
            } catch (IOException | RuntimeException e) {
                System.out.println(cay.output());
                throw e;
            }
        }
        try (var cay = OwnCay.start(Map.of("network.nameservers", "8.8.8.8", "network.openAddresses", PRIVATE))) {
            whatTheOperatorOpened(cay);
        }
    }

    private static void lay(OwnCay cay, Path directory) throws IOException, InterruptedException {
        try (var neighbour = RemoteSandbox.create(cay.url(), cay.key());
                var sandbox = RemoteSandbox.create(cay.url(), cay.key())) {
            var server = neighbour.start(List.of("python3", "-m", "http.server", Integer.toString(SERVER)));
            sandbox.write(SCRIPT, script());
            String host = "%d-%s.cay.localhost";
            var environment = List.of(
                    "env",
                    "EDGE=" + cay.tlsPort(),
                    "NEIGHBOUR=" + host.formatted(SERVER, neighbour.id()),
                    "OWN=" + host.formatted(SERVER, sandbox.id()),
                    "API=api.cay.localhost");
            System.out.println("allowed " + run(sandbox, environment, Way.usualRules(), "legitimate"));
            System.out.println("allowed " + run(sandbox, environment, Way.usualInspection(), "verified"));
            for (int i = 0; i < Way.ALL.size(); i++) {
                for (String said : tried(Way.ALL.get(i), sandbox, environment)) {
                    System.out.println("way %d %s".formatted(i, said));
                }
            }
            fromHost(directory, environment);
            server.close();
        }
    }

    /// Without rules, with rules, and inspected.
    private static List<String> tried(Way way, RemoteSandbox sandbox, List<String> environment)
            throws IOException, InterruptedException {
        var setting = way.setting();
        String control = setting.control() == null ? way.function() : setting.control();
        String usual =
                Programs.ofHost().require(LIMIT, "sysctl", "-n", PORTS).strip().replace('\t', ' ');
        try {
            if (setting.ports() > 0) {
                setPorts(FIRST_PORT + " " + (FIRST_PORT + setting.ports() - 1));
            }
            return List.of(
                    run(sandbox, environment, setting.open(), control),
                    run(sandbox, environment, setting.ruled(), way.function()),
                    run(sandbox, environment, setting.inspected(), way.function()));
        } finally {
            setPorts(usual);
        }
    }

    /// Of the lab's host, which has a network namespace of its own.
    private static void setPorts(String range) {
        Programs.ofHost().require(LIMIT, "sysctl", "-qw", PORTS + "=" + range);
    }

    /// What no sandbox reaches is there all the same: the host reaches it.
    private static void fromHost(Path directory, List<String> environment) throws IOException {
        Path file = directory.resolve("ways.py");
        Files.write(file, script());
        for (var way : those(Expected.NEVER)) {
            var command = new ArrayList<>(environment);
            command.addAll(List.of("python3", file.toString(), way.function()));
            var said = Programs.ofHost().run(LIMIT, command.toArray(String[]::new));
            System.out.println("control %d %s".formatted(Way.ALL.indexOf(way), last(said.output())));
        }
    }

    private static void whatTheOperatorOpened(OwnCay cay) throws IOException, InterruptedException {
        try (var sandbox = RemoteSandbox.create(cay.url(), cay.key())) {
            sandbox.write(SCRIPT, script());
            for (var way : those(Expected.OPERATOR)) {
                String said = run(sandbox, List.of("env"), Way.usualRules(), way.function());
                System.out.println("control %d %s".formatted(Way.ALL.indexOf(way), said));
            }
        }
    }

    private static List<Way> those(Expected expected) {
        return Way.ALL.stream().filter(way -> way.expected() == expected).toList();
    }

    private static String run(RemoteSandbox sandbox, List<String> environment, String rules, String function)
            throws IOException, InterruptedException {
        require(sandbox.api("PUT", "/network", rules));
        var command = new ArrayList<>(environment);
        command.addAll(List.of("python3", SCRIPT, function));
        return last(sandbox.run(command));
    }

    private static String last(String output) {
        return output.strip().lines().reduce((_, last) -> last).orElse("nothing");
    }

    private static void require(HttpResponse<String> answer) throws IOException {
        if (answer.statusCode() != 204) {
            throw new IOException("the rules were answered %d: %s".formatted(answer.statusCode(), answer.body()));
        }
    }

    private static byte[] script() throws IOException {
        try (var in = Objects.requireNonNull(EgressSiege.class.getResourceAsStream("ways.py"))) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8).getBytes(StandardCharsets.UTF_8);
        }
    }
}
