package dev.cay.server.sandbox;

import dev.cay.server.access.SandboxTokens;
import dev.cay.server.network.NetworkView;
import dev.cay.server.volume.MountedVolume;
import dev.cay.wire.node.Saved;
import dev.cay.wire.rest.Contract;
import dev.cay.wire.rest.ListedSandbox;
import dev.cay.wire.rest.SandboxDetail;
import dev.cay.wire.rest.SandboxInfo;
import dev.cay.wire.rest.SandboxVolumeMount;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Sandboxes as clients see them.
public final class SandboxView {
    private final SandboxTokens tokens;
    private final String domain;

    /// @param domain always told, so that host names made by clients lead back here
    public SandboxView(SandboxTokens tokens, String domain) {
        this.tokens = tokens;
        this.domain = domain;
    }

    public SandboxInfo info(SandboxRecord sandbox) {
        return new SandboxInfo(
                sandbox.templateId(),
                sandbox.id().value(),
                Contract.CLIENT_ID,
                sandbox.alias(),
                Contract.ENVD_VERSION,
                accessToken(sandbox),
                sandbox.network().allowPublicTraffic()
                        ? null
                        : tokens.traffic(sandbox.id(), sandbox.tokenVersion()).value(),
                domain);
    }

    public ListedSandbox listed(SandboxRecord sandbox) {
        return new ListedSandbox(
                sandbox.templateId(),
                sandbox.buildId(),
                sandbox.alias(),
                sandbox.id().value(),
                Contract.CLIENT_ID,
                sandbox.startedAt(),
                sandbox.endAt(),
                sandbox.resources().cpuCount(),
                sandbox.resources().memoryMB(),
                sandbox.resources().diskSizeMB(),
                sandbox.metadata(),
                sandbox.state().visible(),
                lifecycle(sandbox),
                sandbox.keyFamily(),
                durability(sandbox),
                Contract.ENVD_VERSION,
                volumes(sandbox));
    }

    /// @param open whether the reader may open the sandbox
    SandboxDetail detail(SandboxRecord sandbox, boolean open) {
        var network = sandbox.network();
        var saved = sandbox.state() == SandboxState.PAUSED ? sandbox.saved() : null;
        return new SandboxDetail(
                sandbox.templateId(),
                sandbox.alias(),
                sandbox.id().value(),
                Contract.CLIENT_ID,
                sandbox.startedAt(),
                sandbox.endAt(),
                Contract.ENVD_VERSION,
                open ? accessToken(sandbox) : null,
                network.allowInternetAccess(),
                domain,
                sandbox.resources().cpuCount(),
                sandbox.resources().memoryMB(),
                sandbox.resources().diskSizeMB(),
                sandbox.metadata(),
                sandbox.state().visible(),
                NetworkView.of(network, open),
                lifecycle(sandbox),
                sandbox.keyFamily(),
                volumes(sandbox),
                saved == null ? null : paused(saved));
    }

    private static SandboxDetail.Lifecycle lifecycle(SandboxRecord sandbox) {
        return new SandboxDetail.Lifecycle(
                sandbox.lifecycle().autoResume(), sandbox.lifecycle().pause() ? "pause" : "kill");
    }

    private static SandboxDetail.Paused paused(Saved saved) {
        var reason = saved.frozen() == null ? null : saved.frozen().reason();
        return new SandboxDetail.Paused(
                saved.memory(),
                saved.loss(),
                new SandboxDetail.Durability(saved.durability().word(), reason));
    }

    private static @Nullable String durability(SandboxRecord sandbox) {
        var saved = sandbox.state() == SandboxState.PAUSED ? sandbox.saved() : null;
        return saved == null ? null : saved.durability().word();
    }

    private static List<SandboxVolumeMount> volumes(SandboxRecord sandbox) {
        return sandbox.volumes().stream().map(MountedVolume::shown).toList();
    }

    private @Nullable String accessToken(SandboxRecord sandbox) {
        return sandbox.secure()
                ? tokens.access(sandbox.id(), sandbox.tokenVersion()).value()
                : null;
    }
}
