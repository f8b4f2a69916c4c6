package dev.cay.server.sandbox;

import dev.cay.server.quota.Limits;
import dev.cay.server.quota.Quotas;
import dev.cay.server.quota.Use;
import dev.cay.wire.node.Resources;
import java.util.function.Supplier;
import org.jdbi.v3.core.Handle;

/// Refuses sandboxes that would take a team, or the key they are created with, over its limits.
///
/// It counts in the transaction that begins the sandbox, so two that are begun at once never both get the last place.
final class SandboxAdmission {
    private final Quotas quotas;

    SandboxAdmission(Quotas quotas) {
        this.quotas = quotas;
    }

    /// @param sandbox that begins, or one that was paused: it counts again from here on
    void begin(Handle handle, SandboxRecord sandbox) {
        var id = sandbox.id();
        var team = sandbox.teamId();
        var key = sandbox.keyFamily();
        var ofTeam = quotas.of(team);
        var ofKey = quotas.ofKeys(key);
        if (!ofTeam.countsSandboxes() && !ofKey.countsSandboxes()) {
            return;
        }
        SandboxStore.lockTeam(handle, team);
        require(ofTeam, sandbox.resources(), "the team", () -> SandboxStore.useOfTeam(handle, team, id));
        if (key != null) {
            require(ofKey, sandbox.resources(), "this API key", () -> SandboxStore.useOfKey(handle, key, id));
        }
    }

    private static void require(Limits limits, Resources wanted, String owner, Supplier<Use> use) {
        if (limits.countsSandboxes()) {
            use.get().requireRoom(limits, wanted, owner);
        }
    }
}
