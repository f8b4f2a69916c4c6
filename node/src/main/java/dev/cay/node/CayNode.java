package dev.cay.node;

import dev.cay.http.Exchange;
import dev.cay.life.Progress;
import dev.cay.node.build.Builds;
import dev.cay.node.build.DashboardBuild;
import dev.cay.node.image.TemplateBuilds;
import dev.cay.node.linux.FdPoller;
import dev.cay.node.sandbox.Keepers;
import dev.cay.node.snapshot.SnapshotStore;
import dev.cay.wire.SandboxAddress;
import dev.cay.wire.node.Node;
import dev.cay.wire.node.NodeAuthorizations;
import dev.cay.wire.node.NodeBuilds;
import dev.cay.wire.node.NodeDisk;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/// The node of one machine, as {@link NodeAssembly} makes it. Started, used through {@link #node} and {@link #handle},
/// closed; what it started runs on until {@link #removeAll}.
public final class CayNode implements AutoCloseable {
    private final NodeHost host;
    private final HouseTemplates templates;
    private final FdPoller poller;
    private final SnapshotStore snapshots;
    private final Keepers keepers;
    private final NodeAuthorizations authorizations;
    private final Builds builds;
    private final NodeDisk disk;
    private final DashboardBuild dashboard;
    private final NodeUndo undo;
    private final Progress progress;

    /// @param undo closes all of these
    CayNode(
            NodeHost host,
            HouseTemplates templates,
            FdPoller poller,
            SnapshotStore snapshots,
            Keepers keepers,
            NodeAuthorizations authorizations,
            Builds builds,
            NodeDisk disk,
            DashboardBuild dashboard,
            NodeUndo undo,
            Progress progress) {
        this.host = host;
        this.templates = templates;
        this.poller = poller;
        this.snapshots = snapshots;
        this.keepers = keepers;
        this.authorizations = authorizations;
        this.builds = builds;
        this.disk = disk;
        this.dashboard = dashboard;
        this.undo = undo;
        this.progress = progress;
    }

    /// Begins to work, and takes up the sandboxes that an earlier daemon left running.
    public void start() {
        try {
            host.start();
            progress.mark("network");
            poller.start();
            keepers.start();
            builds.start();
            host.guest().removeOthers(guestsInUse());
            progress.mark("sandboxes found");
        } catch (RuntimeException e) {
            undo.giveUp(e);
            throw e;
        }
    }

    /// By what runs and by what was saved.
    private Set<String> guestsInUse() {
        var used = new HashSet<>(host.runc().guestsInUse());
        used.addAll(snapshots.guestsInUse());
        return used;
    }

    public Node node() {
        return keepers;
    }

    /// Authorizations of MCP servers that run elsewhere.
    public NodeAuthorizations authorizations() {
        return authorizations;
    }

    /// Templates besides base, which are made in the background.
    public TemplateBuilds templates() {
        return templates.others();
    }

    /// What builds templates that users define.
    public NodeBuilds builds() {
        return builds;
    }

    /// What builds the files of the dashboard.
    public DashboardBuild dashboard() {
        return dashboard;
    }

    /// What removes things from the disk that nothing refers to.
    public NodeDisk disk() {
        return disk;
    }

    /// Size of the pool, which an operator can enlarge while the node runs.
    public long poolBytes() {
        return host.pool().size();
    }

    /// The data path into the sandboxes of this node.
    public void handle(SandboxAddress address, Exchange exchange) throws Exception {
        keepers.handle(address, exchange);
    }

    /// Builds the template `base` unless it is there.
    ///
    /// @return its layers, top first
    public List<String> baseLayers(Progress progress) {
        return templates.makeBase(progress);
    }

    /// Ends every sandbox and takes all of this instance from the host.
    public void removeAll() {
        keepers.killAll();
        host.leave();
    }

    /// Takes all of this instance from the host if no sandbox needs it any more.
    public void leaveHostIfEmpty() {
        if (keepers.endUnclaimed()) {
            host.leave();
        }
    }

    /// Lets go of everything; sandboxes run on.
    @Override
    public void close() {
        undo.close();
    }
}
