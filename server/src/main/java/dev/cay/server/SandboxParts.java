package dev.cay.server;

import dev.cay.life.Undo;
import dev.cay.server.fleet.Fleet;
import dev.cay.server.sandbox.Agreement;
import dev.cay.server.sandbox.Chores;
import dev.cay.server.sandbox.ConcurrencyLimit;
import dev.cay.server.sandbox.DiskShares;
import dev.cay.server.sandbox.EgressLogs;
import dev.cay.server.sandbox.Expiry;
import dev.cay.server.sandbox.Pauses;
import dev.cay.server.sandbox.SandboxDirectory;
import dev.cay.server.sandbox.SandboxRecords;
import dev.cay.server.sandbox.SandboxStarter;
import dev.cay.server.sandbox.Sandboxes;
import dev.cay.server.sandbox.Settlement;
import dev.cay.server.sandbox.TokenRenewal;
import dev.cay.server.snapshot.Snapshots;
import dev.cay.server.template.TemplateSupply;
import dev.cay.server.template.Templates;
import dev.cay.server.volume.Volumes;

/// Sandboxes with their records, snapshots and volumes, and what the node below is asked for them.
record SandboxParts(
        Fleet fleet,
        SandboxDirectory directory,
        SandboxRecords records,
        Sandboxes sandboxes,
        EgressLogs egressLogs,
        SandboxStarter starter,
        Pauses pauses,
        Snapshots snapshots,
        Storage storage,
        SandboxUpkeep upkeep) {
    /// The disk of the node: volumes, and how much of it each team may fill.
    record Storage(Volumes volumes, DiskShares shares) {}

    /// @param forgetMessages removes old messages of webhooks
    /// @param opened         closes what has to be closed
    static SandboxParts make(
            ServerSettings.Sandboxes settings,
            ServerBase base,
            TeamParts teams,
            Templates templates,
            TemplateSupply supply,
            AttachedNode node,
            Runnable forgetMessages,
            Undo opened) {
        var store = base.store();
        var clock = base.clock();
        var fleet = new Fleet(node.sandboxes());
        var directory = new SandboxDirectory(base.tokens());
        var expiry = opened.add(new Expiry(clock, directory, settings.keepPaused()));
        var records = new SandboxRecords(store, directory, expiry, clock, base.events(), teams.quotas());
        var egressLogs = new EgressLogs(store, directory, fleet, clock);
        var sandboxes = new Sandboxes(store, directory, fleet, expiry, records, egressLogs, settings.maxTimeout());
        var volumes = new Volumes(store, node.disk().volumes(), clock);
        var shares = new DiskShares(teams.quotas(), directory, templates, fleet, volumes);
        volumes.limit(shares::requireRoom);
        var starts = ConcurrencyLimit.starting();
        var saves = ConcurrencyLimit.saving();
        var starter = new SandboxStarter(
                records,
                sandboxes,
                templates,
                supply,
                fleet,
                base.tokens(),
                base.random(),
                starts,
                shares,
                base.meters());
        var agreement = new Agreement(records);
        var limits = new Pauses.Limits(settings.maxTimeout(), settings.patience(), settings.pauseAck(), starts, saves);
        var pauses = new Pauses(records, directory, sandboxes, fleet, expiry, agreement, limits);
        var snapshots = new Snapshots(store, templates, records, fleet, saves, shares, base.random());
        var upkeep = new SandboxUpkeep(
                new Settlement(records, directory, fleet, agreement),
                volumes,
                new TokenRenewal(store, records, directory, fleet, base.tokens()),
                snapshots,
                expiry,
                pauses,
                records,
                opened.add(new Chores(
                        store,
                        sandboxes,
                        starter,
                        pauses,
                        templates,
                        egressLogs,
                        forgetMessages,
                        teams.access()::cutExpired,
                        volumes::finishDeletions,
                        clock)));
        return new SandboxParts(
                fleet,
                directory,
                records,
                sandboxes,
                egressLogs,
                starter,
                pauses,
                snapshots,
                new Storage(volumes, shares),
                upkeep);
    }
}
