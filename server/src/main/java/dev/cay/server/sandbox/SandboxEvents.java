package dev.cay.server.sandbox;

import dev.cay.server.event.LifecycleEvent;
import dev.cay.wire.node.Egress;
import dev.cay.wire.node.Saved;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.stream.Collectors;

/// Makes the lifecycle events of a sandbox.
final class SandboxEvents {
    private SandboxEvents() {}

    static LifecycleEvent created(SandboxRecord sandbox, Instant at) {
        return event(LifecycleEvent.Type.CREATED, sandbox, Map.of(), at);
    }

    static LifecycleEvent timeoutSet(SandboxRecord sandbox, Instant at) {
        var data = Map.<String, Object>of("set_timeout", sandbox.endAt().toString());
        return event(LifecycleEvent.Type.UPDATED, sandbox, data, at);
    }

    static LifecycleEvent networkSet(SandboxRecord sandbox, Instant at) {
        var rules = sandbox.network().rules();
        var allowed = rules.allow().stream()
                .collect(Collectors.partitioningBy(
                        entry -> Egress.Destination.parse(entry).isAddress()));
        var egress = Map.of(
                "allowed_cidrs",
                allowed.get(true),
                "denied_cidrs",
                rules.internet() ? rules.deny() : List.of("0.0.0.0/0"),
                "allowed_domains",
                allowed.get(false));
        return event(LifecycleEvent.Type.UPDATED, sandbox, Map.of("network_egress", egress), at);
    }

    /// @param sandbox as it is now, paused
    static LifecycleEvent paused(SandboxRecord sandbox, Saved saved, Instant at) {
        var data = new HashMap<String, Object>();
        data.put("execution", execution(sandbox, at));
        putKept(saved, data);
        return event(LifecycleEvent.Type.PAUSED, sandbox, data, at);
    }

    /// @param sandbox as it is now, paused
    static LifecycleEvent durabilityChanged(SandboxRecord sandbox, Instant at) {
        var data = new HashMap<String, Object>();
        putKept(Objects.requireNonNull(sandbox.saved()), data);
        return event(LifecycleEvent.Type.UPDATED, sandbox, data, at);
    }

    private static void putKept(Saved saved, Map<String, Object> data) {
        data.put("memory", saved.memory());
        if (saved.loss() != null) {
            data.put("memory_loss", saved.loss());
        }
        data.put("durability", saved.durability().word());
        if (saved.frozen() != null && saved.frozen().reason() != null) {
            data.put("not_saved", saved.frozen().reason());
        }
    }

    static LifecycleEvent resumed(SandboxRecord sandbox, Instant at) {
        return event(LifecycleEvent.Type.RESUMED, sandbox, Map.of(), at);
    }

    static LifecycleEvent checkpointed(SandboxRecord sandbox, Instant at) {
        return event(LifecycleEvent.Type.CHECKPOINTED, sandbox, Map.of(), at);
    }

    static LifecycleEvent killed(SandboxRecord sandbox, KillReason reason, Instant at) {
        var data = new HashMap<String, Object>();
        data.put("kill_reason", reason.word());
        data.put("execution", execution(sandbox, sandbox.saved() == null ? at : sandbox.endAt()));
        if (!reason.detail().isEmpty()) {
            data.put("kill_detail", reason.detail());
        }
        return event(LifecycleEvent.Type.KILLED, sandbox, data, at);
    }

    private static Map<String, Object> execution(SandboxRecord sandbox, Instant at) {
        return Map.of(
                "started_at", sandbox.startedAt().toString(),
                "vcpu_count", sandbox.resources().cpuCount(),
                "memory_mb", sandbox.resources().memoryMB(),
                "execution_time", Duration.between(sandbox.startedAt(), at).toMillis());
    }

    private static LifecycleEvent event(
            LifecycleEvent.Type type, SandboxRecord sandbox, Map<String, Object> data, Instant at) {
        var all = new HashMap<>(data);
        if (!sandbox.metadata().isEmpty()) {
            all.put("sandbox_metadata", sandbox.metadata());
        }
        return new LifecycleEvent(
                UUID.randomUUID().toString(),
                type,
                sandbox.teamId(),
                sandbox.id().value(),
                sandbox.templateId(),
                sandbox.buildId(),
                sandbox.executionId(),
                all,
                at);
    }
}
