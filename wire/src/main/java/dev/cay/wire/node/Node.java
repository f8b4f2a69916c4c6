package dev.cay.wire.node;

import dev.cay.wire.SandboxId;
import java.util.List;
import java.util.Map;
import java.util.Optional;

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

    /// Everything that runs here, also what a previous daemon left running.
    List<NodeSandbox> list();

    /// Ends the sandbox with everything in it. New requests are refused before open connections are cut.
    void kill(SandboxId id);

    /// Lets the sandbox reach the internet, or not, from now on; open connections are cut when it may not.
    void setInternetAccess(SandboxId id, boolean allowed);

    /// What the sandbox uses now.
    ResourceUse measure(SandboxId id);

    /// What every running sandbox uses now, in one go: made to be called every few seconds for a thousand of them.
    /// One that cannot be read just now is left out.
    Map<SandboxId, ResourceUse> measureAll();

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
