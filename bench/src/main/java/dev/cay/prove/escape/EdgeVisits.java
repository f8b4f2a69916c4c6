package dev.cay.prove.escape;

import dev.cay.platform.RemoteSandbox;
import java.io.IOException;
import java.net.URI;
import java.util.List;

/// Code in a sandbox without internet access tries to reach another sandbox through the edge on its own loopback. The
/// controls are the same request before its access was removed, and its request to itself.
public final class EdgeVisits {
    private final URI url;
    private final String key;
    private final int port;

    /// @param url  plain HTTP base of the daemon
    /// @param port of its TLS listener, which every sandbox finds on its loopback too
    public EdgeVisits(URI url, String key, int port) {
        this.url = url;
        this.key = key;
        this.port = port;
    }

    /// Adds what got through, or what its control did not, to the failures.
    public List<String> check(List<String> failures) throws IOException, InterruptedException {
        try (var caller = RemoteSandbox.create(url, key);
                var other = RemoteSandbox.create(url, key)) {
            String before = visit(caller, other);
            caller.api("PUT", "/network", "{\"allow_internet_access\":false}");
            String barred = visit(caller, other);
            String itself = visit(caller, caller);
            if (!before.equals("204") || !itself.equals("204")) {
                failures.add("the edge inside is not served: %s with access, %s to itself".formatted(before, itself));
            }
            if (!barred.equals("403")) {
                failures.add("a sandbox without internet access reached another one through the edge: " + barred);
            }
            return List.of(
                    "Edge: a sandbox without internet access gets %s from another sandbox, %s from itself; with access %s."
                            .formatted(barred, itself, before));
        }
    }

    /// The status that the system port of the other answers to a question that needs no token.
    private String visit(RemoteSandbox from, RemoteSandbox to) throws IOException, InterruptedException {
        return from.run(List.of(
                        "/usr/bin/curl",
                        "-sk",
                        "--max-time",
                        "60",
                        "-o",
                        "/dev/null",
                        "-w",
                        "%{http_code}",
                        "-H",
                        "Host: 49983-%s.localhost".formatted(to.id()),
                        "https://127.0.0.1:%d/health".formatted(port)))
                .strip();
    }
}
