package dev.cay.server;

import dev.cay.server.sandbox.Chores;
import dev.cay.server.sandbox.Expiry;
import dev.cay.server.sandbox.Pauses;
import dev.cay.server.sandbox.SandboxRecords;
import dev.cay.server.sandbox.Settlement;
import dev.cay.server.sandbox.TokenRenewal;
import dev.cay.server.snapshot.Snapshots;
import dev.cay.server.volume.Volumes;

/// What is done for sandboxes without a request: the server settles with the node what an earlier run left, ends
/// sandboxes on time, and does every so often what failed before.
record SandboxUpkeep(
        Settlement settlement,
        Volumes volumes,
        TokenRenewal renewal,
        Snapshots snapshots,
        Expiry expiry,
        Pauses pauses,
        SandboxRecords records,
        Chores chores) {
    void start() {
        settlement.settle();
        volumes.start();
        renewal.settle();
        snapshots.settle();
        expiry.start(pauses::expire, records::followClock);
        chores.start();
    }
}
