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

/// The environment of a proof: daemons, clients, and progress messages.
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

    /// The duration of the proof.
    ///
    /// @param promised used unless the user chose another one
    public int minutes(int promised) {
        Integer minutes = scope.minutes();
        return minutes == null ? promised : minutes;
    }

    /// The number of sandboxes, for a proof that has many.
    public int sandboxes(int promised) {
        return scope.small() ? Math.ceilDiv(promised, 10) : promised;
    }

    /// The parts to run: all, unless the user chose some.
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

    /// Ends the daemons that {@link #cay} started, with all their sandboxes: for proofs that check what is left then.
    public void endDaemons() throws IOException {
        while (!daemons.isEmpty()) {
            progress.step("ending the daemon and its sandboxes");
            daemons.pop().close();
            progress.done("ended");
        }
    }

    /// Cleans up. A failure here fails the proof, because it has changed the host.
    @Override
    public void close() throws IOException {
        endDaemons();
    }
}
