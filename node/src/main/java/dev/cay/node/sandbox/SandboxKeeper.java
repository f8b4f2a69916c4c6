package dev.cay.node.sandbox;

import dev.cay.http.Exchange;
import dev.cay.life.Undo;
import dev.cay.node.host.Slot;
import dev.cay.node.runtime.ContainerSpec;
import dev.cay.node.sandbox.Life.Stage;
import dev.cay.wire.AccessToken;
import dev.cay.wire.CayException;
import dev.cay.wire.SandboxId;
import dev.cay.wire.VolumeId;
import dev.cay.wire.node.Egress;
import dev.cay.wire.node.NodeSandbox;
import dev.cay.wire.node.ResourceUse;
import dev.cay.wire.node.Resources;
import dev.cay.wire.node.SandboxKind;
import dev.cay.wire.node.SandboxSpec;
import dev.cay.wire.node.VolumeMount;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Semaphore;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Owns one sandbox. Every change of it runs on the keeper's one thread, in order of request; requests to its ports do
/// not wait in that queue, they use the current {@link Doors}. {@link Life} has the stages of a sandbox.
final class SandboxKeeper {
    private static final Logger log = LoggerFactory.getLogger(SandboxKeeper.class);
    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final Duration SAVE_LIMIT = Duration.ofMinutes(6);

    private final HostParts host;
    private final HostFootprint footprint;
    private final Ended ended;
    private final KeeperThread turns;
    private final CreatePhases phases;
    private final Life life;
    private final Doors doors;
    private final Saving saving;
    private final GuestReconnect reconnect;
    private @Nullable String reason;
    private final GuestLossLimit guestLosses = new GuestLossLimit();

    /// Called when all resources of a sandbox are removed.
    interface Ended {
        /// @param reason why, if it ended by itself
        void ended(SandboxKeeper keeper, @Nullable String reason);
    }

    /// Prepares the interpreter of a running sandbox for a warm snapshot; returns when it is ready.
    interface Warming {
        void warm(OpenSandbox sandbox) throws IOException;
    }

    /// @param slot null for one that is paused
    SandboxKeeper(KeeperParts parts, @Nullable Slot slot, SandboxNotes notes, Ended ended) {
        this.host = parts.host();
        this.footprint = new HostFootprint(parts.host(), parts.saved(), notes, slot);
        this.ended = ended;
        this.phases = new CreatePhases(parts.traffic().meters());
        this.turns = new KeeperThread(notes.spec().id());
        this.life = new Life(notes.spec().id());
        this.doors = new Doors(parts, footprint, () -> turns.later(this::recover));
        footprint.filling().tell(turns::later, this::lose);
        this.saving = new Saving(parts, footprint, turns, life, doors, this::recover);
        this.reconnect = new GuestReconnect(parts.host().runtime(), notes.spec().id(), life, doors);
    }

    SandboxId id() {
        return notes().spec().id();
    }

    SandboxKind kind() {
        return notes().spec().kind();
    }

    Resources resources() {
        return notes().spec().resources();
    }

    @Nullable
    Slot slot() {
        return footprint.slot();
    }

    private SandboxNotes notes() {
        return footprint.notes();
    }

    /// Content keys of the layers that it stands on, or is about to.
    Stream<String> layers() {
        var noted = notes();
        return Stream.concat(
                noted.spec().layers().stream(),
                Stream.ofNullable(noted.layers()).flatMap(List::stream));
    }

    /// Volumes that it has mounted, or will when it is resumed.
    Stream<VolumeId> volumes() {
        return notes().spec().volumes().stream().map(VolumeMount::volume);
    }

    NodeSandbox view() {
        var saved = life.is(Stage.PAUSED) ? notes().saved() : null;
        return new NodeSandbox(id(), notes().spec().templateId(), notes().startedAt(), saved);
    }

    /// Whether clients can see it: it has started and has an owner.
    boolean isThere() {
        return !isSpare() && (life.is(Stage.OPEN) || life.is(Stage.PAUSED) || life.is(Stage.ENDING));
    }

    boolean isPaused() {
        return life.is(Stage.PAUSED);
    }

    /// Whether it was started in advance and has no owner yet.
    boolean isSpare() {
        return notes().spare();
    }

    /// Whether its end was requested and its resources are not all removed yet.
    boolean isEnding() {
        return life.is(Stage.ENDING);
    }

    /// Whether its end was requested.
    boolean doomed() {
        return life.doomed();
    }

    /// Builds the sandbox with directories of the host in it; when that fails nothing of it is left.
    void start(List<ContainerSpec.Mount> mounts) {
        footprint.show(mounts);
        start();
    }

    /// Builds the sandbox; when that fails nothing of it is left.
    void start() {
        try {
            turns.ask("start", notes().spec().snapshot() == null ? LIMIT : SAVE_LIMIT, this::build);
        } catch (CayException e) {
            // The caller may have stopped waiting while the start continues; it must end too.
            life.doom();
            throw e;
        }
    }

    private @Nullable Void build() throws Exception {
        try (var undo = new Undo()) {
            undo.step(this::removeAll);
            life.requireWanted();
            footprint.note(notes());
            long began = System.nanoTime();
            var container = footprint.begin();
            life.requireWanted();
            began = phases.done("container", began);
            doors.open(container);
            footprint.note(notes().nowReady());
            phases.done("guest", began);
            life.requireWanted();
            life.enter(Stage.OPEN);
            footprint.filling().follow();
            undo.keep();
        }
        return null;
    }

    /// Brings a spare one to where it should be saved.
    void warm(Warming warming) {
        turns.ask("be warmed", SAVE_LIMIT, () -> {
            warming.warm(requireOpen());
            return null;
        });
    }

    /// Gives a spare sandbox to a client, with the client's settings.
    void give(SandboxSpec spec) {
        turns.ask("be given away", LIMIT, () -> {
            life.requireOpen();
            life.requireWanted();
            var now = requireOpen();
            // The container may have ended seconds ago without a report yet.
            if (host.runtime().find(id()).isEmpty()) {
                throw life.notRunning();
            }
            // Noted first: from its first packet by the new rules on, it counts for the team that gets it.
            footprint.note(notes().given(spec, host.clock().instant()));
            host.network().attach(id(), footprint.requireSlot(), spec.egress());
            now.become(spec);
            return null;
        });
    }

    /// Adopts a sandbox that runs already. A save that a crash interrupted is forgotten.
    ///
    /// Returns before the guest of a sandbox that was running has answered.
    ///
    /// @param arrivals bounds how many sandboxes are opened at the same time
    void adopt(Semaphore arrivals) {
        turns.ask("adopt", SAVE_LIMIT, () -> {
            host.network().attach(id(), footprint.requireSlot(), notes().spec().egress());
            switch (notes().phaseNow()) {
                case RUNNING -> {
                    footprint.filling().follow();
                    reconnect.announce();
                    turns.later(() -> arrive(arrivals));
                }
                case SAVING -> {
                    doors.open(footprint.repair().orElseThrow(life::notRunning));
                    footprint.note(notes().running(notes().startedAt()));
                    footprint.filling().follow();
                }
                case FROZEN -> throw new IllegalStateException("adopted as running, and is paused");
                case PAUSED, RESUMING -> {
                    doors.open(host.runtime().find(id()).orElseThrow(life::notRunning));
                    saving.nowRuns();
                }
            }
            life.enter(Stage.OPEN);
            return null;
        });
    }

    private void arrive(Semaphore arrivals) {
        reason = reconnect.run(arrivals);
        if (reason != null) {
            giveUp();
        }
    }

    /// Waits until the sandbox is open, whichever thread starts it.
    void awaitOpen() {
        turns.ask("open", LIMIT, () -> {
            life.requireOpen();
            return null;
        });
    }

    /// Ends the sandbox and removes all of it, also one that is just starting. Doing so twice is fine.
    void end() {
        life.doom();
        doors.refuse();
        doors.giveUp();
        reconnect.end();
        saving.cut();
        turns.askIfThere("end", LIMIT, this::removeAll);
    }

    /// Closes the sandbox, which runs on, because the daemon stops. A sandbox that is still starting is removed.
    void leave() {
        if (life.is(Stage.STARTING)) {
            life.doom();
        }
        reconnect.leave();
        doors.giveUp();
        turns.askIfThere("leave", LIMIT, () -> {
            if (life.is(Stage.OPEN)) {
                doors.close();
                life.enter(Stage.LEFT);
            }
            turns.end();
        });
    }

    /// Puts a side sandbox away until {@link #wake}. One that cannot be kept ends.
    void sleep() {
        turns.ask("be suspended", LIMIT, () -> {
            life.requireOpen();
            life.requireWanted();
            orEnd("it could not be suspended: ", () -> {
                doors.close();
                footprint.putAway();
            });
            life.enter(Stage.PAUSED);
            return null;
        });
    }

    void wake() {
        turns.ask("be resumed", LIMIT, () -> {
            life.requirePaused();
            orEnd("it could not be resumed: ", () -> doors.open(footprint.takeUp()));
            life.enter(Stage.OPEN);
            return null;
        });
    }

    private void orEnd(String otherwise, Undo.Step step) throws Exception {
        try {
            step.run();
        } catch (IOException | RuntimeException e) {
            reason = otherwise + e.getMessage();
            giveUp();
            throw e;
        }
    }

    void setEgress(Egress egress) {
        turns.ask("network", LIMIT, () -> {
            life.requireOpen();
            footprint.note(notes().withEgress(egress));
            doors.now().ifPresent(open -> open.setEgress(notes().spec()));
            host.network().setEgress(id(), footprint.requireSlot(), egress);
            return null;
        });
    }

    void renewToken(AccessToken token) {
        turns.ask("another token", LIMIT, () -> {
            life.requireWanted();
            footprint.note(notes().withAccessToken(token));
            doors.now().ifPresent(open -> open.renewToken(notes().spec()));
            return null;
        });
    }

    Egress egress() {
        return notes().spec().egress();
    }

    /// The team that owns it; empty for one without an owner.
    Optional<String> team() {
        return Optional.ofNullable(notes().spec().environment().get(SandboxIdentity.TEAM));
    }

    /// Freezes everything inside for good: afterwards it can only be ended.
    ///
    /// @return the files that differ from its layers
    Path stop() {
        return turns.ask("be stopped", LIMIT, () -> {
            life.requireOpen();
            life.requireWanted();
            doors.close();
            host.runtime().freeze(id());
            return host.pool().layer(id()).resolve("upper");
        });
    }

    /// Saves and restores it.
    Saving saving() {
        return saving;
    }

    ResourceUse measure() {
        return requireOpen().measure();
    }

    /// Its resource use, if it is open. Call this on a platform thread.
    Optional<ResourceUse> measure(long diskUsed) {
        return doors.now().map(open -> open.measure(diskUsed));
    }

    /// The open sandbox, for callers that work in it.
    OpenSandbox requireOpen() {
        return doors.now().orElseThrow(life::notRunning);
    }

    void serve(int port, Exchange exchange) throws Exception {
        doors.serve(port, exchange);
    }

    private void recover() {
        if (!life.is(Stage.OPEN)) {
            return;
        }
        doors.close();
        reason = tryAgain();
        if (reason != null) {
            giveUp();
        }
    }

    /// Ends a sandbox that must not go on, whatever it does now.
    private void lose(String why) {
        if (life.is(Stage.OPEN)) {
            reason = why;
            doors.close();
            giveUp();
        }
    }

    private void giveUp() {
        try {
            removeAll();
        } catch (RuntimeException e) {
            log.atError()
                    .setCause(e)
                    .addKeyValue("sandbox", id())
                    .log("cannot remove all resources of an ended sandbox; the node tries again");
        }
    }

    /// @return why the sandbox must end, or null when it is open again
    private @Nullable String tryAgain() {
        try {
            var container = host.runtime().find(id());
            if (container.isEmpty()) {
                return host.runtime().memoryKills(id()) > 0
                        ? "its first process ended, after it had run out of memory"
                        : "its first process ended";
            }
            var fill = host.runtime().fill(id());
            if (fill.isLost()) {
                return fill.loss();
            }
            if (notes().isSide()) {
                // The connections to its processes were made through the guest.
                return "its guest was lost";
            }
            if (guestLosses.tooMany()) {
                return "its guest was lost again and again";
            }
            doors.open(container.get());
            return null;
        } catch (IOException | RuntimeException e) {
            return "its guest does not answer: " + e.getMessage();
        }
    }

    private void removeAll() {
        if (life.is(Stage.ENDED) || life.is(Stage.LEFT)) {
            return;
        }
        life.enter(Stage.ENDING);
        doors.close();
        saving.end();
        footprint.remove();
        life.enter(Stage.ENDED);
        turns.end();
        ended.ended(this, reason);
    }
}
