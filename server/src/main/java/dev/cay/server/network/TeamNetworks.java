package dev.cay.server.network;

import dev.cay.server.store.Store;
import dev.cay.wire.TeamId;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/// The default egress of each team. Cached, so no request waits for the database. Thread-safe.
public final class TeamNetworks {
    private final Store store;
    private final Map<TeamId, EgressChoice> teams = new ConcurrentHashMap<>();

    public TeamNetworks(Store store) {
        this.store = store;
    }

    public void start() {
        teams.putAll(store.read(TeamNetworkStore::all));
    }

    /// The operator's default for the team.
    public Optional<EgressChoice> find(TeamId team) {
        return Optional.ofNullable(teams.get(team));
    }

    /// Holds for sandboxes that are created from now on.
    ///
    /// @param choice null for no default
    public void set(TeamId team, @Nullable EgressChoice choice) {
        store.write(handle -> TeamNetworkStore.set(handle, team, choice));
        if (choice == null) {
            teams.remove(team);
        } else {
            teams.put(team, choice);
        }
    }
}
