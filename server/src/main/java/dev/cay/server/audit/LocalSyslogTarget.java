package dev.cay.server.audit;

import dev.cay.server.audit.AuditChain.Link;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;

/// The syslog of this machine. Its socket takes datagrams, which Java cannot send: util-linux's `logger` does.
record LocalSyslogTarget(Path socket) implements AuditExport.Target {
    private static final Duration LIMIT = Duration.ofSeconds(10);

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
        try {
            try (var out = logger.getOutputStream()) {
                for (var link : links) {
                    out.write((link.line() + "\n").getBytes(StandardCharsets.UTF_8));
                }
            }
            if (!logger.waitFor(LIMIT.toMillis(), TimeUnit.MILLISECONDS)) {
                throw new IOException("logger did not send to %s within %s".formatted(socket, LIMIT));
            }
            if (logger.exitValue() != 0) {
                throw new IOException("logger cannot send to %s: exit code %d".formatted(socket, logger.exitValue()));
            }
        } finally {
            logger.destroyForcibly();
        }
    }
}
