package dev.cay.server.network;

import dev.cay.server.access.Team;
import dev.cay.server.store.Store;
import dev.cay.wire.TemplateId;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/// The default egress of each template. It holds for sandboxes of the template's own team alone, because a rule sends
/// the secrets of the sandbox's team to a host that the template's owner chose. Cached, so no request waits for the
/// database. Thread-safe.
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
        templates.putAll(store.read(TemplateNetworkStore::all));
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
        store.write(handle -> TemplateNetworkStore.set(handle, template, choice));
        if (choice == null) {
            templates.remove(template);
        } else {
            templates.put(template, choice);
        }
    }
}
