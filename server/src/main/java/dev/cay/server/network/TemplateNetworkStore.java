package dev.cay.server.network;

import dev.cay.server.store.JsonColumn;
import dev.cay.wire.TemplateId;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jdbi.v3.core.Handle;
import org.jspecify.annotations.Nullable;

/// SQL for the default egress of templates.
final class TemplateNetworkStore {
    private TemplateNetworkStore() {}

    static Map<TemplateId, EgressChoice> all(Handle handle) {
        var found = new ConcurrentHashMap<TemplateId, EgressChoice>();
        handle.createQuery("SELECT id, network FROM template WHERE network IS NOT NULL")
                .map((row, context) -> Map.entry(
                        new TemplateId(row.getString("id")),
                        JsonColumn.read(row.getString("network"), EgressChoice.class)))
                .forEach(entry -> found.put(entry.getKey(), entry.getValue()));
        return found;
    }

    static int set(Handle handle, TemplateId template, @Nullable EgressChoice choice) {
        return handle.execute(
                "UPDATE template SET network = ? WHERE id = ?",
                choice == null ? null : JsonColumn.write(choice),
                template.value());
    }
}
