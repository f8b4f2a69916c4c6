package dev.cay.server.build;

import dev.cay.server.store.JsonColumn;
import dev.cay.wire.BuildId;
import java.util.Optional;
import java.util.Set;
import org.jdbi.v3.core.Handle;
import org.jspecify.annotations.Nullable;

/// The SQL of build plans, which a later daemon needs to continue builds, and of the keys that asked for builds.
final class BuildPlanStore {
    private BuildPlanStore() {}

    static void write(Handle handle, BuildId build, BuildStart start) {
        handle.execute("UPDATE build SET plan = ? WHERE id = ?", JsonColumn.write(start), build.value());
    }

    static Optional<BuildStart> read(Handle handle, BuildId build) {
        return handle.createQuery("SELECT plan FROM build WHERE id = :id AND plan IS NOT NULL")
                .bind("id", build.value())
                .mapTo(String.class)
                .findFirst()
                .map(json -> JsonColumn.read(json, BuildStart.class));
    }

    /// @param family of the API key that asked for the build; null for the operator's
    static void writeKey(Handle handle, BuildId build, @Nullable String family) {
        handle.execute("UPDATE build SET key_id = ? WHERE id = ?", family, build.value());
    }

    static Optional<String> keyOf(Handle handle, BuildId build) {
        return handle.createQuery("SELECT key_id FROM build WHERE id = :id AND key_id IS NOT NULL")
                .bind("id", build.value())
                .mapTo(String.class)
                .findFirst();
    }

    /// The builds that keys of a family have asked for and that are not over.
    static Set<BuildId> ofKeys(Handle handle, String family) {
        return Set.copyOf(
                handle.createQuery("SELECT id FROM build WHERE key_id = :key AND status IN ('WAITING', 'BUILDING')")
                        .bind("key", family)
                        .map((row, context) -> new BuildId(row.getString("id")))
                        .list());
    }

    /// Deletes the plan of a build that has ended.
    static int forget(Handle handle, BuildId build) {
        return handle.execute("UPDATE build SET plan = NULL WHERE id = ?", build.value());
    }
}
