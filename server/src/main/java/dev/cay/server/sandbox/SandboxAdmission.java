package dev.cay.server.sandbox;

import dev.cay.server.quota.Limits;
import dev.cay.server.quota.Quotas;
import dev.cay.server.quota.Use;
import dev.cay.wire.SandboxId;
import dev.cay.wire.TeamId;
import dev.cay.wire.node.Resources;
import java.util.function.Supplier;
import org.jdbi.v3.core.Handle;
import org.jspecify.annotations.Nullable;

/// Refuses sandboxes that would take a team, or the key they are created with, over its limits.
///
/// It counts in the transaction that begins the sandbox, so two that are begun at once never both get the last place.
final class SandboxAdmission {
    private final Quotas quotas;

    SandboxAdmission(Quotas quotas) {
        this.quotas = quotas;
    }

    /// @param key family of the key that the sandbox is created with; null for the operator
    void begin(Handle handle, SandboxId id, TeamId team, @Nullable String key, Resources wanted) {
        var ofTeam = quotas.of(team);
        var ofKey = quotas.ofKeys(key);
        if (!ofTeam.countsSandboxes() && !ofKey.countsSandboxes()) {
            return;
        }
        SandboxStore.lockTeam(handle, team);
        require(ofTeam, wanted, "the team", () -> SandboxStore.useOfTeam(handle, team, id));
        if (key != null) {
            require(ofKey, wanted, "this API key", () -> SandboxStore.useOfKey(handle, key, id));
        }
    }

    /// A paused sandbox counts again from here on.
    void goOn(Handle handle, SandboxRecord sandbox) {
        begin(handle, sandbox.id(), sandbox.teamId(), SandboxStore.keyOf(handle, sandbox.id()), sandbox.resources());
    }

    private static void require(Limits limits, Resources wanted, String owner, Supplier<Use> use) {
        if (limits.countsSandboxes()) {
            use.get().requireRoom(limits, wanted, owner);
        }
    }
}
