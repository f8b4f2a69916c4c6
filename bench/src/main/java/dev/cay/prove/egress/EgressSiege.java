package dev.cay.prove.egress;

import dev.cay.platform.OwnCay;
import dev.cay.platform.RemoteSandbox;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/// The part of the proof that runs inside the lab's host: a daemon, a sandbox that tries the ways, and its
/// neighbour. Prints one line for each way: `way`, its number, and what came of it without rules, with rules,
/// and inspected.
public final class EgressSiege {
    private static final String OPEN = "{}";
    private static final String RULED =
            "{\"allowOut\":[\"www.allowed.test\",\"rebind.allowed.test\"],\"denyOut\":[\"0.0.0.0/0\"]}";
    private static final String INSPECTED =
            "{\"allowOut\":[\"www.allowed.test\",\"rebind.allowed.test\"],\"denyOut\":[\"0.0.0.0/0\"],\"inspect\":true}";
    private static final int SERVER = 8000;

    private EgressSiege() {}

    public static void main(String[] arguments) throws Exception {
        try (var cay = OwnCay.start(Map.of("network.nameservers", "8.8.8.8"))) {
            try {
                lay(cay);
            } catch (IOException | RuntimeException e) {
                System.out.println(cay.output());
                throw e;
            }
        }
    }

    private static void lay(OwnCay cay) throws IOException, InterruptedException {
        try (var neighbour = RemoteSandbox.create(cay.url(), cay.key());
                var sandbox = RemoteSandbox.create(cay.url(), cay.key())) {
            var server = neighbour.start(List.of("python3", "-m", "http.server", Integer.toString(SERVER)));
            sandbox.write("/tmp/ways.py", script());
            String host = "%d-%s.cay.localhost".formatted(SERVER, neighbour.id());
            var environment = List.of("env", "EDGE=" + cay.tlsPort(), "NEIGHBOUR=" + host, "python3", "/tmp/ways.py");
            System.out.println("control " + run(sandbox, environment, RULED, "legitimate"));
            for (int i = 0; i < Way.ALL.size(); i++) {
                String function = Way.ALL.get(i).function();
                for (String rules : List.of(OPEN, RULED, INSPECTED)) {
                    System.out.println("way %d %s".formatted(i, run(sandbox, environment, rules, function)));
                }
            }
            server.close();
        }
    }

    private static String run(RemoteSandbox sandbox, List<String> environment, String rules, String function)
            throws IOException, InterruptedException {
        require(sandbox.api("PUT", "/network", rules));
        var command = new ArrayList<>(environment);
        command.add(function);
        return sandbox.run(command).strip().lines().reduce((_, last) -> last).orElse("nothing");
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
