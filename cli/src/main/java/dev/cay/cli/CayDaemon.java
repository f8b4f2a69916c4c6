package dev.cay.cli;

import dev.cay.config.CayConfig;
import dev.cay.life.Progress;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;

/// Server and node of one machine in one process.
///
/// The caller has checked the configuration, made the directories, holds the instance's lock and found the ports free.
final class CayDaemon implements AutoCloseable {
    private final CayConfig config;
    private final Progress progress;

    CayDaemon(CayConfig config, Progress progress) {
        this.config = config;
        this.progress = progress;
    }

    /// Returns when clients can be served. A failure leaves nothing behind that was not there before.
    void start() throws Exception {
        progress.step("starting");
        progress.done("started");
    }

    /// What the operator wants to know once {@link #start} has returned.
    StartReport report() {
        Path tls = config.stateDir().resolve("tls");
        return new StartReport(
                URI.create("http://127.0.0.1:" + config.http().port()),
                config.http().domain() + ":" + config.http().tlsPort(),
                null,
                running(),
                tls.resolve("ca.pem"),
                tls.resolve("bundle.pem"),
                Duration.ZERO);
    }

    /// How many sandboxes live now, running or paused ones that would be lost by {@link #killAll} included.
    int running() {
        return 0;
    }

    /// Ends every sandbox of this instance and puts back what Cay changed on the host. Also works on a daemon that
    /// was never started: then only as much of the node is brought up as cleaning needs.
    void killAll() {
        progress.step("ending all sandboxes");
        progress.done("all sandboxes ended");
    }

    /// Stops serving. Sandboxes stay as they are.
    @Override
    public void close() {}
}
