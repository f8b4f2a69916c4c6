package dev.cay.server.access;

import dev.cay.server.store.Store;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.TeamId;
import java.security.SecureRandom;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// All teams and their API keys, in memory. Thread-safe.
final class KnownTeams {
    private final Store store;
    private final OpenRequests open;
    private final Consumer<String> whenFamilyEnds;
    private final InstantSource clock;
    private final SecureRandom random;
    private final KeyUses uses;
    private final KnownKeys keys = new KnownKeys();
    private final Map<TeamId, Team> teams = new ConcurrentHashMap<>();
    private volatile @Nullable Team first;
    private volatile @Nullable String firstKey;

    /// @param open           requests that are cut when their key is removed
    /// @param whenFamilyEnds gets each family of keys whose last one was removed
    KnownTeams(
            Store store, OpenRequests open, Consumer<String> whenFamilyEnds, InstantSource clock, SecureRandom random) {
        this.store = store;
        this.open = open;
        this.whenFamilyEnds = whenFamilyEnds;
        this.clock = clock;
        this.random = random;
        this.uses = new KeyUses(store);
    }

    /// Reads teams and keys; where there is no team yet, makes one with its first key.
    void start() {
        var team = store.read(AccessStore::findOldestTeam).orElseGet(this::makeTeam);
        store.read(AccessStore::teams).forEach(this::add);
        store.read(AccessStore::keysByHash).forEach(keys::add);
        first = team;
    }

    private Team makeTeam() {
        var fresh = new Team(new TeamId(UUID.randomUUID().toString()), "default", "default");
        var key = ApiKey.random(random);
        var kept = key.kept(fresh, "first key", KeyScope.ALL, clock.instant(), null);
        var team = store.write(handle -> {
            var found = AccessStore.findOldestTeam(handle);
            if (found.isEmpty()) {
                AccessStore.insertTeam(handle, fresh, clock.instant());
                AccessStore.insertKey(handle, kept, key.hash());
            }
            return found.orElse(fresh);
        });
        if (team.equals(fresh)) {
            firstKey = key.text();
        }
        return team;
    }

    /// The team that the first start made, which owns everything that has no other owner.
    Team firstTeam() {
        Team team = first;
        if (team == null) {
            throw new IllegalStateException("not started");
        }
        return team;
    }

    /// The team with this id.
    Team require(TeamId id) {
        var team = teams.get(id);
        if (team == null) {
            throw new CayException(ErrorKind.NOT_FOUND, "there is no team %s".formatted(id));
        }
        return team;
    }

    /// The key that this start made, if it was the first one.
    Optional<String> firstKey() {
        return Optional.ofNullable(firstKey);
    }

    void add(Team team) {
        teams.put(team.id(), team);
    }

    void remove(Team team) {
        teams.remove(team.id());
        keys.ofTeam(team.id()).toList().forEach(this::remove);
    }

    void add(String hash, TeamKey key) {
        keys.add(hash, key);
    }

    /// Replaces a key by a copy with another name or expiry.
    void replace(TeamKey key) {
        keys.replace(key);
    }

    /// Removes a key: later requests are refused, and open ones are cut.
    void remove(TeamKey key) {
        keys.remove(key);
        open.cut(other -> other.id().equals(key.id()));
        uses.forget(key);
        if (keys.ofTeam(key.team().id()).noneMatch(other -> other.family().equals(key.family()))) {
            whenFamilyEnds.accept(key.family());
        }
    }

    /// The keys that were made for programs of people when they signed in.
    List<TeamKey> minted() {
        return keys.all().filter(TeamKey::isMinted).toList();
    }

    /// The keys of a team, with their last use.
    List<TeamKey> keysOf(Team team) {
        return keys.ofTeam(team.id()).map(this::withLastUse).toList();
    }

    /// A key of a team.
    Optional<TeamKey> key(Team team, String id) {
        return keys.ofId(id).filter(key -> key.team().equals(team)).map(this::withLastUse);
    }

    private TeamKey withLastUse(TeamKey key) {
        var at = uses.last(key.id());
        return at == null ? key : key.used(at);
    }

    /// The number of keys of each team.
    Map<TeamId, Integer> keyCounts() {
        return keys.counts();
    }

    /// The key with this hash, or null.
    @Nullable
    TeamKey ofHash(String hash) {
        return keys.ofHash(hash);
    }

    Optional<TeamKey> ofId(String id) {
        return keys.ofId(id);
    }

    void noteUse(TeamKey key, Instant now) {
        uses.note(key, now);
    }

    /// Writes the last uses of keys, which are only in memory until then.
    void close() {
        uses.write();
    }
}
