package dev.cay.wire.node;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonProperty;
import dev.cay.wire.AccessToken;
import dev.cay.wire.SandboxId;
import dev.cay.wire.TemplateId;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// The inputs of a node for starting a sandbox.
///
/// @param layers      content keys of the template's layers, top first; the node has them or refuses
/// @param environment variables of every process in the sandbox
/// @param accessToken token that requests to the system ports must carry; null means they are open
/// @param egress      its egress rules
/// @param snapshot    the snapshot to restore, files and memory; null for a cold start. The snapshot's variables stay
///                    unless the environment overrides them; its layers and resources must be the same
/// @param start       the command that is started before clients get the sandbox; null for none
/// @param volumes     its mounts; with the memory of a snapshot they must be at the same paths as in that
public record SandboxSpec(
        SandboxId id,
        TemplateId templateId,
        List<String> layers,
        Resources resources,
        Map<String, String> environment,
        @Nullable AccessToken accessToken,
        String defaultUser,
        @Nullable String defaultWorkdir,
        Egress egress,
        @Nullable String snapshot,
        @Nullable StartCommand start,
        List<VolumeMount> volumes) {
    public SandboxSpec {
        layers = List.copyOf(layers);
        environment = Map.copyOf(environment);
        volumes = List.copyOf(volumes);
    }

    /// A spec without volumes.
    public SandboxSpec(
            SandboxId id,
            TemplateId templateId,
            List<String> layers,
            Resources resources,
            Map<String, String> environment,
            @Nullable AccessToken accessToken,
            String defaultUser,
            @Nullable String defaultWorkdir,
            Egress egress,
            @Nullable String snapshot,
            @Nullable StartCommand start) {
        this(
                id,
                templateId,
                layers,
                resources,
                environment,
                accessToken,
                defaultUser,
                defaultWorkdir,
                egress,
                snapshot,
                start,
                List.of());
    }

    /// A spec without a start command.
    public SandboxSpec(
            SandboxId id,
            TemplateId templateId,
            List<String> layers,
            Resources resources,
            Map<String, String> environment,
            @Nullable AccessToken accessToken,
            String defaultUser,
            @Nullable String defaultWorkdir,
            Egress egress,
            @Nullable String snapshot) {
        this(
                id,
                templateId,
                layers,
                resources,
                environment,
                accessToken,
                defaultUser,
                defaultWorkdir,
                egress,
                snapshot,
                null);
    }

    /// Reads notes of this Cay and of older ones, which knew only internet access or none, and no volumes.
    @JsonCreator
    static SandboxSpec read(
            @JsonProperty("id") SandboxId id,
            @JsonProperty("templateId") TemplateId templateId,
            @JsonProperty("layers") List<String> layers,
            @JsonProperty("resources") Resources resources,
            @JsonProperty("environment") Map<String, String> environment,
            @JsonProperty("accessToken") @Nullable AccessToken accessToken,
            @JsonProperty("defaultUser") String defaultUser,
            @JsonProperty("defaultWorkdir") @Nullable String defaultWorkdir,
            @JsonProperty("egress") @Nullable Egress egress,
            @JsonProperty("internetAccess") @Nullable Boolean internetAccess,
            @JsonProperty("snapshot") @Nullable String snapshot,
            @JsonProperty("start") @Nullable StartCommand start,
            @JsonProperty("volumes") @Nullable List<VolumeMount> volumes) {
        var older = Boolean.TRUE.equals(internetAccess) ? Egress.open() : Egress.closed();
        return new SandboxSpec(
                id,
                templateId,
                layers,
                resources,
                environment,
                accessToken,
                defaultUser,
                defaultWorkdir,
                egress == null ? older : egress,
                snapshot,
                start,
                Objects.requireNonNullElse(volumes, List.of()));
    }

    /// A field for older Cays that know no rules, if an operator goes back to one: a sandbox with rules gets no
    /// internet access there rather than all of it.
    @JsonProperty("internetAccess")
    boolean unrestricted() {
        return egress.equals(Egress.open());
    }

    public SandboxKind kind() {
        return new SandboxKind(templateId, layers, resources, snapshot);
    }

    public SandboxSpec withEnvironment(Map<String, String> other) {
        return new SandboxSpec(
                id,
                templateId,
                layers,
                resources,
                other,
                accessToken,
                defaultUser,
                defaultWorkdir,
                egress,
                snapshot,
                start,
                volumes);
    }

    public SandboxSpec withAccessToken(AccessToken other) {
        return new SandboxSpec(
                id,
                templateId,
                layers,
                resources,
                environment,
                other,
                defaultUser,
                defaultWorkdir,
                egress,
                snapshot,
                start,
                volumes);
    }

    public SandboxSpec withEgress(Egress other) {
        return new SandboxSpec(
                id,
                templateId,
                layers,
                resources,
                environment,
                accessToken,
                defaultUser,
                defaultWorkdir,
                other,
                snapshot,
                start,
                volumes);
    }

    public SandboxSpec withVolumes(List<VolumeMount> mounted) {
        return new SandboxSpec(
                id,
                templateId,
                layers,
                resources,
                environment,
                accessToken,
                defaultUser,
                defaultWorkdir,
                egress,
                snapshot,
                start,
                mounted);
    }
}
