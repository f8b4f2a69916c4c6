package dev.cay.prove;

import dev.cay.life.Progress;
import dev.cay.platform.NpmClient;
import dev.cay.platform.OwnCay;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/// Where a proof plays: what it needs, and whom it tells how far it is.
public final class Stage implements AutoCloseable {
    private final Progress progress;
    private final Scope scope;
    private final Deque<OwnCay> daemons = new ArrayDeque<>();

    Stage(Progress progress, Scope scope) {
        this.progress = progress;
        this.scope = scope;
    }

    public Progress progress() {
        return progress;
    }

    /// How long to go on.
    ///
    /// @param promised unless whoever started the proof said otherwise
    public int minutes(int promised) {
        Integer minutes = scope.minutes();
        return minutes == null ? promised : minutes;
    }

    /// How many sandboxes, of a proof that has many.
    public int sandboxes(int promised) {
        return scope.small() ? Math.ceilDiv(promised, 10) : promised;
    }

    /// Those parts of a proof that are to be played: all, unless whoever started it chose some.
    public <T> List<T> chosen(List<T> parts, Function<T, String> name) {
        var known = parts.stream().map(name).toList();
        var only = scope.only();
        for (String wanted : only) {
            if (!known.contains(wanted)) {
                throw new CayException(
                        ErrorKind.INVALID_ARGUMENT,
                        "--only: there is no part named %s; there are: %s".formatted(wanted, String.join(", ", known)));
            }
        }
        return only.isEmpty()
                ? parts
                : parts.stream().filter(part -> only.contains(name.apply(part))).toList();
    }

    public void say(String line) {
        progress.detail(line);
    }

    /// A daemon of the proof's own, which ends with it.
    ///
    /// @param settings keys of `cay.yaml` that the proof needs otherwise
    public OwnCay cay(Map<String, String> settings) throws IOException, InterruptedException {
        return cay(settings, "");
    }

    /// @param sections of `cay.yaml`, as {@link OwnCay#start(Map, String)} takes them
    public OwnCay cay(Map<String, String> settings, String sections) throws IOException, InterruptedException {
        progress.step("starting a daemon of its own");
        var cay = OwnCay.start(settings, sections);
        daemons.push(cay);
        progress.done("daemon, pid " + cay.daemon().pid());
        return cay;
    }

    public NpmClient client() throws IOException, InterruptedException {
        return NpmClient.e2b();
    }

    /// Ends what {@link #cay} started, with all its sandboxes: for proofs that look at what is left then.
    public void endDaemons() throws IOException {
        while (!daemons.isEmpty()) {
            progress.step("ending the daemon and its sandboxes");
            daemons.pop().close();
            progress.done("ended");
        }
    }

    /// Whoever cannot leave the host as it was has proved nothing, so a failure here is the proof's.
    @Override
    public void close() throws IOException {
        endDaemons();
    }
}
