package dev.cay.wire.node;

import dev.cay.wire.AccessToken;
import dev.cay.wire.SandboxId;
import dev.cay.wire.TemplateId;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// All a node needs to know to start a sandbox.
///
/// @param layers        content keys of the template's layers, top first; the node has them or refuses
/// @param environment   variables of every process in the sandbox
/// @param accessToken   what requests to the system ports must carry; null means they are open
/// @param snapshot      what it goes on from, files and memory; null for one that starts anew. The snapshot's variables
///                      stay where the environment does not say otherwise, its layers and resources must be the same
/// @param start         what is started in it before anybody gets it; null for nothing
public record SandboxSpec(
        SandboxId id,
        TemplateId templateId,
        List<String> layers,
        Resources resources,
        Map<String, String> environment,
        @Nullable AccessToken accessToken,
        String defaultUser,
        @Nullable String defaultWorkdir,
        boolean internetAccess,
        @Nullable String snapshot,
        @Nullable StartCommand start) {
    public SandboxSpec {
        layers = List.copyOf(layers);
        environment = Map.copyOf(environment);
    }

    /// One in which nothing is started.
    public SandboxSpec(
            SandboxId id,
            TemplateId templateId,
            List<String> layers,
            Resources resources,
            Map<String, String> environment,
            @Nullable AccessToken accessToken,
            String defaultUser,
            @Nullable String defaultWorkdir,
            boolean internetAccess,
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
                internetAccess,
                snapshot,
                null);
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
                internetAccess,
                snapshot,
                start);
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
                internetAccess,
                snapshot,
                start);
    }

    public SandboxSpec withInternetAccess(boolean allowed) {
        return new SandboxSpec(
                id,
                templateId,
                layers,
                resources,
                environment,
                accessToken,
                defaultUser,
                defaultWorkdir,
                allowed,
                snapshot,
                start);
    }
}
