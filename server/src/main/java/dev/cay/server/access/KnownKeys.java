package dev.cay.server.access;

import dev.cay.wire.TeamId;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// All API keys, found by their hash, by the id that names them elsewhere, and by their team: one of many teams does
/// not wait for a walk over the keys of all. Thread-safe.
final class KnownKeys {
    private record Known(String hash, TeamKey key) {}

    private final Map<String, String> idByHash = new ConcurrentHashMap<>();
    private final Map<String, Known> byId = new ConcurrentHashMap<>();
    private final Map<TeamId, Set<String>> idsByTeam = new ConcurrentHashMap<>();

    void add(String hash, TeamKey key) {
        byId.put(key.id(), new Known(hash, key));
        idsByTeam.compute(key.team().id(), (_, ids) -> {
            var all = ids == null ? ConcurrentHashMap.<String>newKeySet() : ids;
            all.add(key.id());
            return all;
        });
        idByHash.put(hash, key.id());
    }

    /// Replaces a key by a copy with another name or expiry.
    void replace(TeamKey key) {
        byId.computeIfPresent(key.id(), (_, known) -> new Known(known.hash(), key));
    }

    void remove(TeamKey key) {
        var known = byId.remove(key.id());
        if (known != null) {
            idByHash.remove(known.hash());
            idsByTeam.computeIfPresent(key.team().id(), (_, ids) -> {
                ids.remove(key.id());
                return ids.isEmpty() ? null : ids;
            });
        }
    }

    /// The lookup is by a hash, so its time reveals nothing about a key.
    @Nullable
    TeamKey ofHash(String hash) {
        String id = idByHash.get(hash);
        return id == null ? null : ofId(id).orElse(null);
    }

    Optional<TeamKey> ofId(String id) {
        return Optional.ofNullable(byId.get(id)).map(Known::key);
    }

    Stream<TeamKey> ofTeam(TeamId team) {
        return idsByTeam.getOrDefault(team, Set.of()).stream().flatMap(id -> ofId(id).stream());
    }

    Map<TeamId, Integer> counts() {
        return idsByTeam.entrySet().stream()
                .collect(Collectors.toMap(
                        Map.Entry::getKey, entry -> entry.getValue().size()));
    }

    Stream<TeamKey> all() {
        return byId.values().stream().map(Known::key);
    }
}
