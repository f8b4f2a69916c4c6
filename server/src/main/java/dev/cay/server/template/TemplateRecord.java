package dev.cay.server.template;

import dev.cay.wire.node.Resources;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// What a sandbox is made from.
///
/// @param aliases   bare names, without their namespace
/// @param names     full names: `namespace/alias`, or the alias alone where everybody may use it
/// @param layers    content keys, top first
/// @param buildId   changes with the content
public record TemplateRecord(
        String id,
        String teamId,
        List<String> aliases,
        List<String> names,
        boolean isPublic,
        Resources resources,
        List<String> layers,
        String defaultUser,
        @Nullable String defaultWorkdir,
        String buildId,
        Instant createdAt,
        Instant updatedAt,
        @Nullable Instant lastSpawnedAt,
        long spawnCount,
        int buildCount) {
    public TemplateRecord {
        aliases = List.copyOf(aliases);
        names = List.copyOf(names);
        layers = List.copyOf(layers);
    }

    public Origin origin() {
        return new Origin(layers, defaultUser, defaultWorkdir);
    }

    /// Whether a sandbox made from the other one would be the same.
    boolean sameContent(TemplateRecord other) {
        return resources.equals(other.resources)
                && layers.equals(other.layers)
                && defaultUser.equals(other.defaultUser)
                && Objects.equals(defaultWorkdir, other.defaultWorkdir)
                && isPublic == other.isPublic;
    }

    TemplateRecord spawned(Instant at) {
        return new TemplateRecord(
                id,
                teamId,
                aliases,
                names,
                isPublic,
                resources,
                layers,
                defaultUser,
                defaultWorkdir,
                buildId,
                createdAt,
                updatedAt,
                at,
                spawnCount + 1,
                buildCount);
    }
}
