package dev.cay.wire.node;

import dev.cay.wire.AccessToken;
import dev.cay.wire.SandboxId;
import dev.cay.wire.TemplateId;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/// One machine that runs sandboxes. It runs them; the server decides which should exist.
///
/// Every call blocks until it is done or fails with a {@link dev.cay.wire.CayException}, has a time limit of its own,
/// and may be repeated: creating an id that runs already returns that sandbox, killing an unknown one does nothing.
public interface Node {
    /// Reserves the id for a new sandbox of this kind: that of a spare, if there is one, else a new one. It is given
    /// out once; a caller that does not create the sandbox kills the id.
    SandboxId reserve(SandboxKind kind);

    /// Sandboxes of this kind will be asked for: some may be started in advance from now on.
    void expect(SandboxKind kind);

    /// How many sandboxes of each template were started in advance and wait to be given out; those without any are left
    /// out.
    Map<TemplateId, Integer> sparesByTemplate();

    /// Starts a sandbox and returns once its guest answers.
    NodeSandbox create(SandboxSpec spec);

    Optional<NodeSandbox> find(SandboxId id);

    /// Everything that runs here or is paused, also what a previous daemon left.
    List<NodeSandbox> list();

    /// Pauses the sandbox. Pausing a paused one returns what is kept of it.
    ///
    /// A sandbox whose memory is kept is frozen at once, and saved. After an answer that it is frozen, a save that
    /// fails is tried again; {@link #onSaved} says what becomes of it.
    ///
    /// @param until what to wait for; a sandbox that is to be saved and cannot be saved as requested continues
    Saved pause(SandboxId id, Keep keep, Durability until);

    /// Pauses the sandbox, and returns when it is saved.
    default Saved pause(SandboxId id, Keep keep) {
        return pause(id, keep, Durability.SAVED);
    }

    /// Resumes a paused sandbox; without its memory it starts cold on its files. After a failure it stays paused with
    /// all that was saved. For a running one, returns it.
    NodeSandbox resume(SandboxId id, boolean memory);

    /// Saves a running sandbox under a name while it continues; another sandbox can be created from that. A name has
    /// lower case letters and digits, and is used once.
    Saved snapshot(SandboxId id, String name, Keep keep);

    /// Restores a sandbox, running or paused, to a snapshot, and runs it. After a failure it is as before.
    NodeSandbox rollback(SandboxId id, String snapshot);

    /// Names of all snapshots here.
    Set<String> snapshots();

    /// Deletes a snapshot; sandboxes that were made from it stay. Unknown ones are fine.
    void deleteSnapshot(String name);

    /// Ends the sandbox with everything in it. New requests are refused before open connections are cut.
    void kill(SandboxId id);

    /// Replaces the egress rules of a running sandbox; open connections that they do not allow are cut.
    void setEgress(SandboxId id, Egress egress);

    /// The destinations that the sandbox tried to reach, if its connections go through the node. Empty for unknown
    /// ones.
    EgressSeen egressSeen(SandboxId id);

    /// Gives a sandbox, running or paused, another access token: the old one opens nothing from now on, and requests
    /// that it opened are cut.
    void renewToken(SandboxId id, AccessToken token);

    /// The sandbox's current resource use.
    ResourceUse measure(SandboxId id);

    /// The current resource use of all running sandboxes, in one call: cheap enough to be called every few seconds for
    /// a thousand of them. A sandbox that cannot be measured just now is left out.
    Map<SandboxId, ResourceUse> measureAll();

    /// Sets the sandboxes whose memory is saved when their timeout passes: the node reserves disk space for that.
    /// Called every few seconds with all of them.
    void keepRoomFor(Set<SandboxId> toBeSaved);

    /// Holds the sandboxes of each share to what they may hold together; those in no share have their own limits
    /// alone, and for those in several the lowest limit holds. Told every few seconds, all shares each time. Where
    /// the node's disk knows no limits, it only counts.
    ///
    /// @return bytes that each share holds now, in the same order
    List<Long> shareDisk(List<DiskShare> shares);

    /// Sets the source of values for placeholders in rules. It is asked for each request that needs one, so a changed
    /// value takes effect at once; until it is set, such requests fail.
    void fillPlaceholders(Placeholders values);

    /// Adds a listener for sandboxes that ended by themselves. Called on a thread of the node; must not block long.
    void onEnd(EndListener listener);

    /// Adds a listener for what becomes of sandboxes that were paused before they were saved. Called on a thread of the
    /// node; must not block long.
    void onSaved(SavedListener listener);

    /// Adds a listener for log lines of sandboxes. Called on any thread of the node; must not block.
    void onLog(LogListener listener);

    interface LogListener {
        void logged(SandboxId id, LogLine line);
    }

    interface SavedListener {
        /// @param saved what is kept of the paused sandbox from now on
        void saved(SandboxId id, Saved saved);
    }

    interface EndListener {
        void ended(SandboxId id, String reason);
    }
}
