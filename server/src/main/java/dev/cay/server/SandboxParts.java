package dev.cay.server;

import dev.cay.life.Undo;
import dev.cay.server.fleet.Fleet;
import dev.cay.server.sandbox.Agreement;
import dev.cay.server.sandbox.Chores;
import dev.cay.server.sandbox.ConcurrencyLimit;
import dev.cay.server.sandbox.EgressLogs;
import dev.cay.server.sandbox.Expiry;
import dev.cay.server.sandbox.Pauses;
import dev.cay.server.sandbox.SandboxDirectory;
import dev.cay.server.sandbox.SandboxRecords;
import dev.cay.server.sandbox.SandboxStarter;
import dev.cay.server.sandbox.Sandboxes;
import dev.cay.server.sandbox.Settlement;
import dev.cay.server.sandbox.TokenRenewal;
import dev.cay.server.template.TemplateSupply;
import dev.cay.server.template.Templates;

/// Sandboxes with their records, and what the node below is asked for them.
record SandboxParts(
        Fleet fleet,
        SandboxDirectory directory,
        SandboxRecords records,
        Sandboxes sandboxes,
        EgressLogs egressLogs,
        SandboxStarter starter,
        Pauses pauses,
        StorageParts storage,
        SandboxUpkeep upkeep) {
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
        var starts = ConcurrencyLimit.starting();
        var saves = ConcurrencyLimit.saving();
        var storage = StorageParts.make(base, teams.quotas(), node, templates, fleet, directory, records, saves);
        var starter = new SandboxStarter(
                records,
                sandboxes,
                templates,
                supply,
                fleet,
                base.tokens(),
                base.random(),
                starts,
                storage.shares(),
                base.meters());
        var agreement = new Agreement(records);
        var limits = new Pauses.Limits(settings.maxTimeout(), settings.patience(), settings.pauseAck(), starts, saves);
        var pauses = new Pauses(records, directory, sandboxes, fleet, expiry, agreement, limits);
        var upkeep = new SandboxUpkeep(
                new Settlement(records, directory, fleet, agreement),
                storage.volumes(),
                new TokenRenewal(store, records, directory, fleet, base.tokens()),
                storage.snapshots(),
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
                        storage.volumes()::finishDeletions,
                        clock)));
        return new SandboxParts(fleet, directory, records, sandboxes, egressLogs, starter, pauses, storage, upkeep);
    }
}
