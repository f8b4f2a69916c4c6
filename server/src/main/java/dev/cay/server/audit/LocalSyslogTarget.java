package dev.cay.server.audit;

import dev.cay.server.audit.AuditChain.Link;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;

/// The syslog of this machine. Its socket takes datagrams, which Java cannot send: util-linux's `logger` does.
record LocalSyslogTarget(Path socket) implements AuditExport.Target {
    private static final Duration LIMIT = Duration.ofSeconds(5);

    @Override
    public void write(List<Link> links) throws IOException, InterruptedException {
        var command = List.of(
                "logger",
                "--socket",
                socket.toString(),
                "--socket-errors=on",
                "--priority",
                "authpriv.info",
                "--tag",
                "cay-audit",
                "--size",
                "8192");
        var logger = new ProcessBuilder(command)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        var late = new AtomicBoolean();
        var limit = endAtLimit(logger, late);
        try {
            feed(logger, links);
            int code = logger.waitFor();
            if (code != 0) {
                throw new IOException("logger cannot send to %s: exit code %d".formatted(socket, code));
            }
        } catch (IOException e) {
            throw late.get() ? new IOException("logger did not send to %s within %s".formatted(socket, LIMIT), e) : e;
        } finally {
            limit.interrupt();
            logger.destroyForcibly();
        }
    }

    /// While nobody reads the socket, logger waits without a limit, and so would a write to it.
    private static Thread endAtLimit(Process logger, AtomicBoolean late) {
        return Thread.ofPlatform().daemon().name("audit-syslog-limit").start(() -> {
            try {
                Thread.sleep(LIMIT);
                late.set(true);
                logger.destroyForcibly();
            } catch (InterruptedException _) {
                // It sent everything.
            }
        });
    }

    private static void feed(Process logger, List<Link> links) throws IOException {
        try (var out = logger.getOutputStream()) {
            for (var link : links) {
                out.write((link.line() + "\n").getBytes(StandardCharsets.UTF_8));
            }
        }
    }
}
