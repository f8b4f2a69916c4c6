package dev.cay.prove.escape;

import dev.cay.platform.RemoteSandbox;
import java.io.IOException;
import java.util.List;

/// Another user inside tries to put a gateway of its own in the place of the owner's. The control is the same call with
/// the owner's token, which works.
final class GatewayTakeover {
    private static final String OWNER = "owners-token";
    private static final String INTRUDER = "intruders-token";

    /// Prints the status of the answer.
    private static final String START = """
            setpriv --reuid=65534 --regid=65534 --clear-groups curl -s -o /dev/null -w '%%{http_code}' -m 60 \
            -H 'Content-Type: application/json' -H 'X-Gateway-Token: %s' %s -d '{}' \
            http://127.0.0.1:49983/mcp-gateway/start""";

    private final RemoteSandbox sandbox;

    GatewayTakeover(RemoteSandbox sandbox) {
        this.sandbox = sandbox;
    }

    List<String> check(List<String> failures) throws IOException, InterruptedException {
        String begun = shell("GATEWAY_ACCESS_TOKEN=%s mcp-gateway --config '{}' && echo begun".formatted(OWNER));
        require(failures, begun.contains("begun"), "the owner's gateway did not begin: " + begun);
        for (String shown : List.of("", "-H 'X-Gateway-Current-Token: guessed'")) {
            String status = shell(START.formatted(INTRUDER, shown));
            require(failures, status.equals("401"), "another user replaced the owner's gateway: " + status);
        }
        require(failures, admits(OWNER) && !admits(INTRUDER), "the gateway is not the owner's any more");
        String control = shell(START.formatted(INTRUDER, "-H 'X-Gateway-Current-Token: %s'".formatted(OWNER)));
        require(
                failures,
                control.equals("200") && admits(INTRUDER),
                "control: the owner's token did not replace the gateway: " + control);
        return List.of("MCP: another user inside cannot replace the owner's gateway; with the owner's token it can.");
    }

    private boolean admits(String token) throws IOException, InterruptedException {
        return shell("curl -s -m 60 -H 'Authorization: Bearer %s' http://127.0.0.1:50005/health".formatted(token))
                .contains("\"servers\"");
    }

    private String shell(String command) throws IOException, InterruptedException {
        return sandbox.run(List.of("/bin/sh", "-c", command)).strip();
    }

    private static void require(List<String> failures, boolean condition, String failure) {
        if (!condition) {
            failures.add(failure);
        }
    }
}
