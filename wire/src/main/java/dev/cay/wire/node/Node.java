package dev.cay.wire.node;

import dev.cay.wire.AccessToken;
import dev.cay.wire.SandboxId;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/// One machine that runs sandboxes. It owns what is; the server owns what should be.
///
/// Every call blocks until it is done or fails with a {@link dev.cay.wire.CayException}, has a limit of its own, and
/// may be repeated: creating an id that runs already answers with it, killing an unknown one does nothing.
public interface Node {
    /// The id that a new sandbox of this kind should be created with: that of one which was started in advance, if
    /// there is one to spare, else a new one. It is given out once; who does not create the sandbox kills the id.
    SandboxId reserve(SandboxKind kind);

    /// Sandboxes of this kind will be asked for: some may be started in advance from now on.
    void expect(SandboxKind kind);

    /// Starts a sandbox and returns once its guest answers.
    NodeSandbox create(SandboxSpec spec);

    Optional<NodeSandbox> find(SandboxId id);

    /// Everything that runs here or is paused, also what a previous daemon left.
    List<NodeSandbox> list();

    /// Saves the sandbox and takes it off the machine: from then on it costs disk. Returns when it is on record; until
    /// the disk has it all the original is kept. One that cannot be saved as wanted goes on as before. Pausing a
    /// paused one answers with what was saved.
    Saved pause(SandboxId id, Keep keep);

    /// Lets a paused sandbox go on where it was; without its memory it starts anew on its files. When that fails it
    /// stays paused with all that was saved. One that runs already is answered with.
    NodeSandbox resume(SandboxId id, boolean memory);

    /// Saves a running sandbox under a name while it goes on: another one can be created from that. A name is of lower
    /// case letters and digits, and is given once.
    Saved snapshot(SandboxId id, String name, Keep keep);

    /// Puts a sandbox, running or paused, back to where it was when the snapshot was made, and lets it go on
    /// from there. When that fails it is as it was before.
    NodeSandbox rollback(SandboxId id, String snapshot);

    /// Names of all snapshots here.
    Set<String> snapshots();

    /// Deletes a snapshot; sandboxes that were made from it stay. Unknown ones are fine.
    void deleteSnapshot(String name);

    /// Ends the sandbox with everything in it. New requests are refused before open connections are cut.
    void kill(SandboxId id);

    /// Says what a running sandbox may reach from now on, in place of what was said before; open connections that
    /// are not allowed any more are cut.
    void setEgress(SandboxId id, Egress egress);

    /// What the sandbox tried to reach, if its connections take the path through the node. Nothing for unknown ones.
    EgressSeen egressSeen(SandboxId id);

    /// Gives a sandbox, running or paused, another access token: the old one opens nothing from now on, and requests
    /// that it opened are cut.
    void renewToken(SandboxId id, AccessToken token);

    /// What the sandbox uses now.
    ResourceUse measure(SandboxId id);

    /// What every running sandbox uses now, in one go: made to be called every few seconds for a thousand of them.
    /// One that cannot be read just now is left out.
    Map<SandboxId, ResourceUse> measureAll();

    /// Says which sandboxes are to be saved with their memory when their time is over: the node keeps room for that.
    /// Told every few seconds, all of them each time.
    void keepRoomFor(Set<SandboxId> toBeSaved);

    /// Holds the sandboxes of each share to what they may hold together; those in no share have their own limits alone.
    /// Told every few seconds, all shares each time. Where the node's disk knows no limits, it only counts.
    ///
    /// @return bytes that each share holds now, in the same order
    List<Long> shareDisk(List<DiskShare> shares);

    /// Says who knows the values behind placeholders in rules. Asked for each request that needs one, so that a value
    /// that changed holds at once; until somebody is named, such requests fail.
    void fillPlaceholders(Placeholders values);

    /// Tells of sandboxes that ended without being asked to. Called on a thread of the node; must not block long.
    void onEnd(EndListener listener);

    /// Tells what is done in sandboxes, as it happens. Called on any thread of the node; must not block.
    void onLog(LogListener listener);

    interface LogListener {
        void logged(SandboxId id, LogLine line);
    }

    interface EndListener {
        void ended(SandboxId id, String reason);
    }
}
