package dev.cay.server.quota;

import dev.cay.server.access.Access;
import dev.cay.server.access.Caller;
import dev.cay.server.access.Team;
import dev.cay.server.access.TeamKey;
import dev.cay.server.store.Store;
import dev.cay.wire.SandboxId;
import dev.cay.wire.TeamId;
import java.util.Comparator;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// The limits of every team and key, and how often each has asked lately. No request waits for the database.
/// Thread-safe.
public final class Quotas implements Access.Admission {
    private final Store store;
    private final Limits usual;

    /// Limits of the teams for which the operator has set their own.
    private final Map<TeamId, Limits> teams = new ConcurrentHashMap<>();

    /// By families of keys: one that takes the place of another gets no more than the other has left.
    private final Map<String, Limits> keys = new ConcurrentHashMap<>();

    /// Made when a team or key with such limits first asks.
    private final Map<TeamId, Rates> teamRates = new ConcurrentHashMap<>();

    private final Map<String, Rates> keyRates = new ConcurrentHashMap<>();

    /// The same for requests to sandboxes that keys of a family have created.
    private final Map<String, Rates> keyOperations = new ConcurrentHashMap<>();

    private final Strangers strangers = new Strangers();

    /// @param usual of teams for which the operator has set none
    public Quotas(Store store, Limits usual) {
        this.store = store;
        this.usual = usual;
    }

    public void start() {
        teams.putAll(store.read(QuotaStore::ofTeams));
        keys.putAll(store.read(QuotaStore::ofKeys));
    }

    public Limits of(TeamId team) {
        return teams.getOrDefault(team, usual);
    }

    /// The limits of a family of keys, beside those of its team.
    public Limits ofKeys(@Nullable String family) {
        return family == null ? Limits.NONE : keys.getOrDefault(family, Limits.NONE);
    }

    /// Whether the operator has set limits for this team.
    public boolean hasOwn(TeamId team) {
        return teams.containsKey(team);
    }

    /// @param limits null for the default
    public void set(TeamId team, @Nullable Limits limits) {
        store.write(handle -> {
            QuotaStore.setTeam(handle, team, limits);
            return team;
        });
        if (limits == null) {
            teams.remove(team);
        } else {
            teams.put(team, limits);
        }
        teamRates.remove(team);
    }

    public void setKey(TeamKey key, Limits limits) {
        boolean none = limits.equals(Limits.NONE);
        store.write(handle -> {
            QuotaStore.setKeys(handle, key.family(), none ? null : limits);
            return key;
        });
        if (none) {
            keys.remove(key.family());
        } else {
            keys.put(key.family(), limits);
        }
        keyRates.remove(key.family());
        keyOperations.remove(key.family());
    }

    /// Counts one request to the API. The operator's are not counted.
    @Override
    public void call(Caller caller) {
        var key = caller.key();
        if (key == null) {
            return;
        }
        var ofKey = rates(key);
        ofKey.call();
        try {
            rates(caller.team()).call();
        } catch (RuntimeException e) {
            ofKey.giveBack();
            throw e;
        }
    }

    @Override
    public boolean isLimited(TeamKey key) {
        return keys.containsKey(key.family());
    }

    @Override
    public void forget(String family) {
        keys.remove(family);
        keyRates.remove(family);
        keyOperations.remove(family);
    }

    /// Counts a request to files of this team with a token.
    public void operation(TeamId team) {
        rates(team, "your team").operation();
    }

    /// Counts a request to a sandbox of this team with a token of the sandbox.
    ///
    /// @param family of keys, one of which the sandbox was created with; null for the operator's
    public void operation(TeamId team, @Nullable String family) {
        var ofKey = operations(family);
        ofKey.operation();
        try {
            operation(team);
        } catch (RuntimeException e) {
            ofKey.giveBackOperation();
            throw e;
        }
    }

    /// Counts a request to a sandbox without a token. Each sandbox has its own count, so that a stranger who knows the
    /// address of one cannot use up the limit of the team or the key.
    public void strange(TeamId team, @Nullable String family, SandboxId sandbox) {
        var least = Stream.of(of(team), ofKeys(family))
                .flatMap(limits -> Stream.ofNullable(limits.operationsPerMinute()))
                .min(Comparator.naturalOrder());
        least.ifPresent(most ->
                strangers.of(sandbox, Limits.NONE.withOperationsPerMinute(most)).strange());
    }

    private Rates operations(@Nullable String family) {
        return family == null || ofKeys(family).operationsPerMinute() == null
                ? Rates.UNLIMITED
                : keyOperations.computeIfAbsent(
                        family, _ -> new Rates(ofKeys(family), "the API key that created the sandbox"));
    }

    /// So many sandboxes that are created together.
    public void create(Caller caller, int count) {
        var key = caller.key();
        if (key == null) {
            return;
        }
        var ofKey = rates(key);
        ofKey.create(count);
        try {
            rates(caller.team()).create(count);
        } catch (RuntimeException e) {
            ofKey.giveBackCreates(count);
            throw e;
        }
    }

    private Rates rates(Team team) {
        return rates(team.id(), "team '%s'".formatted(team.name()));
    }

    private Rates rates(TeamId team, String name) {
        return of(team).countsRequests()
                ? teamRates.computeIfAbsent(team, id -> new Rates(of(id), name))
                : Rates.UNLIMITED;
    }

    private Rates rates(TeamKey key) {
        return ofKeys(key.family()).countsRequests()
                ? keyRates.computeIfAbsent(
                        key.family(), family -> new Rates(ofKeys(family), "the API key '%s'".formatted(key.name())))
                : Rates.UNLIMITED;
    }
}
