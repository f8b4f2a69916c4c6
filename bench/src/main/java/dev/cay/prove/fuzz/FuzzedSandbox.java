package dev.cay.prove.fuzz;

import dev.cay.platform.RemoteSandbox;
import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.util.List;

/// The sandbox that receives inputs. Inputs that may do anything inside may ruin it; then it is replaced.
final class FuzzedSandbox implements AutoCloseable {
    private static final Duration LIFE = Duration.ofHours(1);
    private static final Duration SETTLING = Duration.ofSeconds(20);

    /// The processes of an idle sandbox: the guest, and the server.
    private static final int OWN = 2;

    private static final int ATTEMPTS = 8;
    private static final String DONE = "prey-is-ready";

    /// Ends all processes but pid 1 and itself. A server keeps a port open for requests through the proxy.
    private static final String PREPARE = """
            kill -9 -1
            cd / && rm -rf /home/user/* /home/user/.[a-z]* /tmp/* /root/* 2>/dev/null
            mkdir -p /home/user/www && echo hello > /home/user/www/index.html && cd /home/user/www
            setsid python3 -m http.server --bind 127.0.0.1 8000 >/dev/null 2>&1 </dev/null &
            """;

    /// The id and token for requests.
    record Name(String id, String token) {}

    private final URI url;
    private final String key;
    private final String script;
    private final boolean mayBeRuined;
    private volatile RemoteSandbox sandbox;

    /// @param more        a shell script that prepares files for the inputs
    /// @param mayBeRuined whether inputs are allowed to make it useless
    FuzzedSandbox(URI url, String key, String more, boolean mayBeRuined) throws IOException, InterruptedException {
        this.url = url;
        this.key = key;
        this.script = PREPARE + more + "\nid user && echo " + DONE;
        this.mayBeRuined = mayBeRuined;
        this.sandbox = RemoteSandbox.create(url, key, LIFE);
        prepare();
    }

    Name name() {
        var current = sandbox;
        return new Name(current.id(), current.token());
    }

    /// Ends processes that inputs started, and removes files that they wrote.
    ///
    /// @return a problem of the sandbox; empty without one
    String tidy() throws IOException, InterruptedException {
        String wrong = "";
        for (int i = 0; i < ATTEMPTS; i++) {
            try {
                prepare();
                return mayBeRuined ? "" : wrong;
            } catch (IOException | RuntimeException e) {
                // Inputs continue meanwhile: one may have killed the shell, or hit a new sandbox before it was ready.
                wrong = "a sandbox was ruined: " + e.getMessage();
                if (i % 2 == 1) {
                    sandbox.close();
                    sandbox = RemoteSandbox.create(url, key, LIFE);
                }
            }
        }
        return wrong;
    }

    private void prepare() throws IOException, InterruptedException {
        String said = sandbox.run(List.of("/bin/sh", "-c", script));
        if (!said.contains(DONE)) {
            throw new IOException("it said " + said);
        }
    }

    /// Ends all processes inside and waits for their end.
    String settle() throws IOException, InterruptedException {
        String wrong = tidy();
        long end = System.nanoTime() + SETTLING.toNanos();
        while (sandbox.processes() > OWN && System.nanoTime() < end) {
            Thread.sleep(100);
        }
        long left = sandbox.processes();
        return left > OWN ? "%d processes are left in the sandbox".formatted(left) : wrong;
    }

    @Override
    public void close() throws IOException {
        sandbox.close();
    }
}
