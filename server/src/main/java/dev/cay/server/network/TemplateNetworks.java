package dev.cay.server.network;

import dev.cay.server.access.Team;
import dev.cay.server.store.JsonColumn;
import dev.cay.server.store.Store;
import dev.cay.wire.TemplateId;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.jdbi.v3.core.Handle;
import org.jspecify.annotations.Nullable;

/// The egress of sandboxes whose client says nothing about it, by template. It holds for sandboxes of the team that
/// owns
/// the template alone: a rule sends the secrets of the sandbox's team to a host that the owner of the template chose.
/// No
/// request waits for the database. Thread-safe.
public final class TemplateNetworks {
    /// Finds templates of a team.
    public interface Owners {
        /// @param text id or name, with or without a tag
        /// @return nothing for templates of others, and for what is no template
        Optional<TemplateId> own(Team team, String text);
    }

    private final Store store;
    private final Owners owners;
    private final Map<TemplateId, EgressChoice> templates = new ConcurrentHashMap<>();

    public TemplateNetworks(Store store, Owners owners) {
        this.store = store;
        this.owners = owners;
    }

    public void start() {
        templates.putAll(store.read(TemplateNetworks::all));
    }

    /// What holds for a sandbox that a team creates.
    ///
    /// @param template as the client names it; null if it does not
    Optional<EgressChoice> find(Team team, @Nullable String template) {
        return templates.isEmpty() || template == null
                ? Optional.empty()
                : owners.own(team, template).flatMap(this::find);
    }

    Optional<EgressChoice> find(TemplateId template) {
        return Optional.ofNullable(templates.get(template));
    }

    /// Holds for sandboxes that are created from now on.
    ///
    /// @param choice null for no default
    void set(TemplateId template, @Nullable EgressChoice choice) {
        store.write(handle -> handle.execute(
                "UPDATE template SET network = ? WHERE id = ?",
                choice == null ? null : JsonColumn.write(choice),
                template.value()));
        if (choice == null) {
            templates.remove(template);
        } else {
            templates.put(template, choice);
        }
    }

    private static Map<TemplateId, EgressChoice> all(Handle handle) {
        var found = new ConcurrentHashMap<TemplateId, EgressChoice>();
        handle.createQuery("SELECT id, network FROM template WHERE network IS NOT NULL")
                .map((row, context) -> Map.entry(
                        new TemplateId(row.getString("id")),
                        JsonColumn.read(row.getString("network"), EgressChoice.class)))
                .forEach(entry -> found.put(entry.getKey(), entry.getValue()));
        return found;
    }
}
