package dev.cay.node.sandbox;

import dev.cay.life.Steps;
import dev.cay.node.host.HostCapacity;
import dev.cay.node.linux.MemoryPages;
import dev.cay.node.runtime.ContainerRuntime;
import dev.cay.node.runtime.Fill;
import dev.cay.node.snapshot.SnapshotStore;
import dev.cay.wire.SandboxId;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Which snapshot the memory of a sandbox is brought in from while it runs. Until all of it is in, the snapshot stays
/// as it is; a file beside the sandbox's notes says so to the next daemon. Used on the keeper's thread.
final class MemoryFill {
    private static final Logger log = LoggerFactory.getLogger(MemoryFill.class);
    private static final Duration LOOK = Duration.ofMillis(20);
    private static final Duration FOREVER = Duration.ofDays(365);
    private static final String NOTE = "filled-from";
    private static final String TOUCHED = "touched";

    private final ContainerRuntime runtime;
    private final SnapshotStore store;
    private final SandboxId id;
    private final Path folder;
    private final HostCapacity capacity;

    private Consumer<Runnable> turns = Runnable::run;
    private Consumer<String> lost = _ -> {};
    private @Nullable String from;

    /// Counts restores. Who follows an earlier one has nothing to say.
    private int restores;

    /// @param records  of all sandboxes
    /// @param capacity told how much is still to come
    MemoryFill(ContainerRuntime runtime, SnapshotStore store, SandboxId id, Path records, HostCapacity capacity) {
        this.runtime = runtime;
        this.store = store;
        this.id = id;
        this.capacity = capacity;
        this.folder = SandboxNotes.folder(records, id);
        try {
            Path note = folder.resolve(NOTE);
            if (Files.exists(note)) {
                from = Files.readString(note);
                store.use(from, id);
                capacity.expect(id, this::missing);
            }
        } catch (IOException e) {
            throw new UncheckedIOException("cannot read what sandbox %s is filled from".formatted(id), e);
        }
    }

    /// @param turns runs an action on the keeper's thread
    /// @param lost  ends the sandbox, some of whose memory cannot be brought in any more; on the keeper's thread
    void tell(Consumer<Runnable> turns, Consumer<String> lost) {
        this.turns = turns;
        this.lost = lost;
    }

    /// Keeps the snapshot from which the sandbox is about to be restored. Refuses with UNAVAILABLE where there is no
    /// room for its memory.
    ///
    /// @param bytes of memory that the snapshot holds
    void begin(String snapshot, long bytes) {
        end();
        capacity.promise(id, () -> missing(bytes));
        try {
            Files.createDirectories(folder);
            Files.writeString(folder.resolve(NOTE), snapshot);
        } catch (IOException e) {
            capacity.expectNoMore(id);
            throw new UncheckedIOException("cannot note what sandbox %s is filled from".formatted(id), e);
        }
        from = snapshot;
        store.use(snapshot, id);
        Steps.reach("fill-noted");
    }

    boolean hasBegun() {
        return from != null;
    }

    private long missing() {
        return missing(0);
    }

    /// @param before what is missing before CRIU has said what there is
    private long missing(long before) {
        try {
            var fill = runtime.fill(id);
            boolean known = fill.pages() > 0 || !(fill.isUnderWay() || fill.stage() == Fill.Stage.NONE);
            return known ? fill.missing(MemoryPages.SIZE) : before;
        } catch (RuntimeException e) {
            return before;
        }
    }

    /// Gives the snapshot back: all of the memory is in, or there is no container any more.
    void end() {
        var now = from;
        if (now == null) {
            return;
        }
        from = null;
        capacity.expectNoMore(id);
        try {
            Files.deleteIfExists(folder.resolve(NOTE));
        } catch (IOException e) {
            throw new UncheckedIOException("cannot note that sandbox %s is filled".formatted(id), e);
        }
        store.release(now, id);
    }

    /// Waits in the background for the end of a fill that has begun.
    void follow() {
        if (from != null) {
            restores++;
            int restore = restores;
            Thread.ofVirtual()
                    .name("fill-" + id)
                    .start(() -> await(FOREVER).ifPresent(fill -> turns.accept(() -> over(restore, fill))));
        }
    }

    /// Returns when the memory is in, is lost, or takes too long. On any thread.
    ///
    /// @return how far it is; empty if that cannot be found out
    Optional<Fill> await(Duration limit) {
        long began = System.nanoTime();
        try {
            var fill = runtime.fill(id);
            while (fill.isUnderWay() && System.nanoTime() - began < limit.toNanos()) {
                Thread.sleep(LOOK);
                fill = runtime.fill(id);
            }
            return Optional.of(fill);
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
            return Optional.empty();
        } catch (RuntimeException e) {
            log.atError()
                    .setCause(e)
                    .addKeyValue("sandbox", id)
                    .log("cannot find out whether the memory of a sandbox is filled");
            return Optional.empty();
        }
    }

    private void over(int restore, Fill fill) {
        if (from == null || restore != restores) {
            return;
        }
        if (fill.isLost()) {
            lost.accept(fill.loss());
            return;
        }
        keepTouched(fill.touched());
        end();
        Steps.reach("filled");
    }

    /// What programs waited for is brought in first the next time.
    private void keepTouched(Path touched) {
        try {
            if (Files.exists(touched)) {
                Files.copy(touched, folder.resolve(TOUCHED), StandardCopyOption.REPLACE_EXISTING);
                var now = from;
                if (now != null) {
                    store.noteTouched(now, touched);
                }
            }
        } catch (IOException | RuntimeException e) {
            log.atDebug().setCause(e).addKeyValue("sandbox", id).log("cannot write the list of touched pages");
        }
    }

    /// The list of pages that programs waited for after the last restore; it may not exist.
    static Path touched(Path records, SandboxId id) {
        return SandboxNotes.folder(records, id).resolve(TOUCHED);
    }
}
