package dev.cay.cli;

import dev.cay.cli.local.ConfigOptions;
import dev.cay.cli.local.RunFile;
import dev.cay.config.CayConfig;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.io.PrintStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/// The process that holds the lock of a state directory: a daemon that serves, one that is starting, or one that is
/// ending. A killed process keeps its lock, and its entry in `/proc`, until the kernel has freed its memory.
final class LockHolder {
    private static final Duration LIMIT = Duration.ofSeconds(15);
    private static final Duration ASK_LIMIT = Duration.ofSeconds(2);
    private static final Duration LOOK_EVERY = Duration.ofMillis(100);

    private LockHolder() {}

    /// Waits until the holder answers requests or has ended, and fails when it does neither.
    ///
    /// @return the daemon that answers; empty when no process holds the lock
    static Optional<RunFile> settle(CayConfig config, ConfigOptions options, PrintStream out)
            throws IOException, InterruptedException {
        long end = System.nanoTime() + LIMIT.toNanos();
        boolean told = false;
        while (InstanceLock.isHeld(config.stateDir())) {
            var serving = RunFile.findReadable(config.runDir()).filter(LockHolder::answers);
            if (serving.isPresent()) {
                return serving;
            }
            if (System.nanoTime() > end) {
                throw silent(config, options);
            }
            if (!told) {
                out.println("waiting for the Cay before this one to stop or to answer");
                told = true;
            }
            TimeUnit.MILLISECONDS.sleep(LOOK_EVERY.toMillis());
        }
        return Optional.empty();
    }

    private static CayException silent(CayConfig config, ConfigOptions options) throws IOException {
        long pid = InstanceLock.holder(config.stateDir()).pid();
        String what = RunFile.findReadable(config.runDir())
                .map(file -> "does not answer at " + file.url())
                .orElse("is still starting or stopping");
        return new CayException(
                ErrorKind.UNAVAILABLE,
                "Cay (pid %d) runs but %s after %d s; `sudo %s` may say why, `sudo %s` stops it"
                        .formatted(pid, what, LIMIT.toSeconds(), options.command("logs"), options.command("down")));
    }

    private static boolean answers(RunFile file) {
        try (var http = HttpClient.newBuilder().connectTimeout(ASK_LIMIT).build()) {
            var request = HttpRequest.newBuilder(URI.create(file.url()).resolve("/health"))
                    .timeout(ASK_LIMIT)
                    .build();
            return http.send(request, HttpResponse.BodyHandlers.discarding()).statusCode() < 300;
        } catch (IOException _) {
            return false;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CayException(ErrorKind.CANCELED, "interrupted", e);
        }
    }
}
