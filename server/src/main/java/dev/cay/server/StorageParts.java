package dev.cay.server;

import dev.cay.server.fleet.Fleet;
import dev.cay.server.quota.Quotas;
import dev.cay.server.sandbox.ConcurrencyLimit;
import dev.cay.server.sandbox.DiskShares;
import dev.cay.server.sandbox.SandboxDirectory;
import dev.cay.server.sandbox.SandboxRecords;
import dev.cay.server.snapshot.Snapshots;
import dev.cay.server.template.Templates;
import dev.cay.server.volume.Volumes;

/// What teams have on the disk of the node beside sandboxes: volumes and snapshots, and how much of it each may fill.
record StorageParts(Volumes volumes, Snapshots snapshots, DiskShares shares) {
    /// @param saves limits how many sandboxes are saved at a time
    static StorageParts make(
            ServerBase base,
            Quotas quotas,
            AttachedNode node,
            Templates templates,
            Fleet fleet,
            SandboxDirectory directory,
            SandboxRecords records,
            ConcurrencyLimit saves) {
        var volumes = new Volumes(base.store(), node.disk().volumes(), base.clock());
        var shares = new DiskShares(quotas, directory, templates, fleet, volumes);
        volumes.limit(shares::requireRoom);
        var snapshots = new Snapshots(base.store(), templates, records, fleet, saves, shares, base.random());
        return new StorageParts(volumes, snapshots, shares);
    }
}
