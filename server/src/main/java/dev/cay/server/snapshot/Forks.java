package dev.cay.server.snapshot;

import dev.cay.http.ErrorRenderer;
import dev.cay.life.TaskGroup;
import dev.cay.server.access.Caller;
import dev.cay.server.sandbox.MassKills;
import dev.cay.server.sandbox.SandboxRecord;
import dev.cay.server.sandbox.SandboxStarter;
import dev.cay.server.sandbox.SandboxView;
import dev.cay.server.sandbox.Sandboxes;
import dev.cay.server.template.StartPoint;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.rest.SandboxForkResult;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.stream.IntStream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Copies a running sandbox: saves it once, starts all copies from that snapshot, and deletes it.
public final class Forks {
    private static final Logger log = LoggerFactory.getLogger(Forks.class);
    private static final Duration LIMIT = Duration.ofMinutes(5);

    private final Snapshots snapshots;
    private final SandboxStarter starter;
    private final SandboxView view;
    private final Sandboxes sandboxes;

    public Forks(Snapshots snapshots, SandboxStarter starter, SandboxView view, Sandboxes sandboxes) {
        this.sandboxes = sandboxes;
        this.snapshots = snapshots;
        this.starter = starter;
        this.view = view;
    }

    /// Makes the copies; one result for each, some of which may be failures.
    List<SandboxForkResult> fork(SandboxRecord source, Caller caller, int count, Duration timeout) {
        var period = sandboxes.period(source.teamId());
        var from = snapshots.takeForCopies(caller, source);
        try {
            return copies(source, caller, from, count, timeout, period);
        } finally {
            String name = from.snapshot();
            if (name != null) {
                snapshots.discard(name);
            }
        }
    }

    private List<SandboxForkResult> copies(
            SandboxRecord source,
            Caller caller,
            StartPoint from,
            int count,
            Duration timeout,
            MassKills.Period period) {
        var results = new AtomicReferenceArray<SandboxForkResult>(count);
        try (var tasks = new TaskGroup()) {
            for (int i = 0; i < count; i++) {
                int each = i;
                tasks.run(() -> results.set(each, copy(source, caller, from, timeout, period)));
            }
            tasks.join(LIMIT);
        } catch (TimeoutException e) {
            log.atWarn().addKeyValue("sandbox", source.id()).log("not all forks were started in time");
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CayException(ErrorKind.CANCELED, "interrupted while sandboxes were copied", e);
        } catch (Exception e) {
            throw new CayException(ErrorKind.INTERNAL, "the copies could not be made", e);
        }
        var late = SandboxForkResult.failed(
                ErrorRenderer.status(ErrorKind.DEADLINE_EXCEEDED), "it was not made within " + LIMIT);
        return IntStream.range(0, count)
                .mapToObj(i -> Objects.requireNonNullElse(results.get(i), late))
                .toList();
    }

    private SandboxForkResult copy(
            SandboxRecord source, Caller caller, StartPoint from, Duration timeout, MassKills.Period period) {
        try {
            return SandboxForkResult.of(view.info(starter.fork(source, caller, from, timeout, period)));
        } catch (CayException e) {
            return SandboxForkResult.failed(ErrorRenderer.status(e.kind()), e.userMessage());
        } catch (RuntimeException e) {
            log.atError().setCause(e).addKeyValue("sandbox", source.id()).log("a fork failed");
            return SandboxForkResult.failed(500, "internal error");
        }
    }
}
