package dev.cay.node.mcp.repository;

import dev.cay.node.files.Account;
import dev.cay.node.guest.Exit;
import dev.cay.node.guest.Spawn;
import dev.cay.node.image.NodeLayer;
import dev.cay.node.lines.LineBuffer;
import dev.cay.node.lines.LineListener;
import dev.cay.node.lines.LineProcess;
import dev.cay.node.lines.LongLines;
import dev.cay.node.lines.Tail;
import dev.cay.node.mcp.side.SideSandbox;
import dev.cay.node.process.Workers;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/// Runs scripts in side sandboxes to their end, as the user that servers run as. Neither the script's variables
/// nor its output is written to a file of the host.
record SidePrograms(Workers workers) {
    static final String USER = "user";

    private static final String TAG = "mcp-repository";
    private static final String PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

    /// More than is ever shown, so that a secret which was cut at the beginning is never shown in part.
    private static final int SAID = 32 << 10;

    /// The result of a script.
    ///
    /// @param exit  null when its sandbox ended first
    /// @param first the first line of its standard output; empty without one
    /// @param said  the end of its standard error
    record Ended(@Nullable Exit exit, String first, String said) {
        boolean isWell() {
            return exit != null && exit.success();
        }
    }

    private static final class OutputReader implements LineListener {
        private static final int LONGEST = 1000;

        private final CompletableFuture<@Nullable Exit> end = new CompletableFuture<>();
        private volatile String first = "";

        @Override
        public void line(byte[] line, LineBuffer lines) {
            if (first.isEmpty() && line.length <= LONGEST) {
                first = new String(line, StandardCharsets.UTF_8);
            }
        }

        @Override
        public void over(String reason, @Nullable Exit exit) {
            end.complete(exit);
        }
    }

    /// The script must not end in a command that takes the shell's place: standard output stays open until the
    /// script ends.
    ///
    /// @param arguments   `$1` and so on
    /// @param environment beside what every process has
    /// @param limit       after which it is killed
    /// @throws CayException of kind DEADLINE_EXCEEDED when it took too long
    Ended run(SideSandbox side, String script, List<String> arguments, Map<String, String> environment, Duration limit)
            throws IOException {
        var account = side.files()
                .findAccount(USER)
                .orElseThrow(() -> new CayException(ErrorKind.FAILED, "the template of servers has no user " + USER));
        var reader = new OutputReader();
        var said = new Tail(SAID);
        var process = LineProcess.start(
                side.link(), workers, new LongLines(), spawn(account, script, arguments, environment), said);
        try {
            process.hear(reader);
            process.closeInput();
            var exit = reader.end.get(Math.max(0, limit.toNanos()), TimeUnit.NANOSECONDS);
            return new Ended(exit, reader.first, said.text());
        } catch (TimeoutException e) {
            throw new CayException(ErrorKind.DEADLINE_EXCEEDED, "it took too long and was stopped", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CayException(ErrorKind.CANCELED, "it was stopped", e);
        } catch (ExecutionException e) {
            throw new IllegalStateException(e);
        } finally {
            process.kill();
        }
    }

    private static Spawn spawn(
            Account account, String script, List<String> arguments, Map<String, String> environment) {
        var all = new TreeMap<>(NodeLayer.environment());
        all.putAll(Map.of("PATH", PATH, "HOME", account.home(), "USER", USER, "LANG", "C.UTF-8"));
        all.putAll(environment);
        var line = new ArrayList<>(List.of("sh", "-c", script, TAG));
        line.addAll(arguments);
        return new Spawn(
                line,
                all.entrySet().stream()
                        .map(variable -> variable.getKey() + "=" + variable.getValue())
                        .toList(),
                account.home(),
                account.uid(),
                account.gid(),
                account.groups(),
                0,
                0,
                true,
                TAG);
    }
}
