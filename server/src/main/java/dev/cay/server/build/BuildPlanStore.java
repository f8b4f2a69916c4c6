package dev.cay.server.build;

import dev.cay.server.store.JsonColumn;
import dev.cay.wire.BuildId;
import java.util.Optional;
import org.jdbi.v3.core.Handle;

/// The SQL of build plans, which a later daemon needs to continue builds.
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

    /// Deletes the plan of a build that has ended.
    static int forget(Handle handle, BuildId build) {
        return handle.execute("UPDATE build SET plan = NULL WHERE id = ?", build.value());
    }
}
