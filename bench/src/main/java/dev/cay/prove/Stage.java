package dev.cay.prove;

import dev.cay.bench.NpmClient;
import dev.cay.bench.OwnCay;
import dev.cay.life.Progress;
import dev.cay.life.Undo;
import java.io.IOException;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// Where a proof plays: what it needs, and whom it tells how far it is.
public final class Stage implements AutoCloseable {
    private final Progress progress;
    private final @Nullable Integer minutes;
    private final Undo closing = new Undo();

    Stage(Progress progress, @Nullable Integer minutes) {
        this.progress = progress;
        this.minutes = minutes;
    }

    public Progress progress() {
        return progress;
    }

    /// How long to go on.
    ///
    /// @param promised unless whoever started the proof said otherwise
    public int minutes(int promised) {
        return minutes == null ? promised : minutes;
    }

    public void say(String line) {
        progress.detail(line);
    }

    /// A daemon of the proof's own, which ends with it.
    ///
    /// @param settings keys of `cay.yaml` that the proof needs otherwise
    public OwnCay cay(Map<String, String> settings) throws IOException, InterruptedException {
        progress.step("starting a daemon of its own");
        var cay = closing.add(OwnCay.start(settings));
        progress.done("daemon, pid " + cay.daemon().pid());
        return cay;
    }

    public NpmClient client() throws IOException, InterruptedException {
        return NpmClient.e2b();
    }

    /// Ends what {@link #cay} started, with all its sandboxes: for proofs that look at what is left then.
    public void endDaemons() {
        close();
    }

    @Override
    public void close() {
        progress.step("cleaning up");
        closing.close();
        progress.done("cleaned up");
    }
}
