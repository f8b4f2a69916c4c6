package dev.cay.server.sandbox;

import dev.cay.wire.SandboxId;
import java.util.HashSet;
import java.util.Set;
import org.jdbi.v3.core.Handle;

/// All sandboxes on record that clients can still use.
///
/// @param layers content keys of their layers
public record LivingSandboxes(Set<SandboxId> ids, Set<String> layers) {
    public LivingSandboxes {
        ids = Set.copyOf(ids);
        layers = Set.copyOf(layers);
    }

    public static LivingSandboxes of(Handle handle) {
        var ids = new HashSet<SandboxId>();
        var layers = new HashSet<String>();
        for (var sandbox : SandboxStore.notKilled(handle)) {
            if (SandboxState.ALIVE.contains(sandbox.state())) {
                ids.add(sandbox.id());
                if (sandbox.origin() != null && sandbox.state() != SandboxState.RUNNING) {
                    layers.addAll(sandbox.origin().layers());
                }
            }
        }
        return new LivingSandboxes(ids, layers);
    }
}
