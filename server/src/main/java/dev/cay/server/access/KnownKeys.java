package dev.cay.server.access;

import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// All API keys, found by their hash, and by the id that names them elsewhere. Thread-safe.
final class KnownKeys {
    private final Map<String, TeamKey> byHash = new ConcurrentHashMap<>();
    private final Map<String, TeamKey> byId = new ConcurrentHashMap<>();

    void add(String hash, TeamKey key) {
        byHash.put(hash, key);
        byId.put(key.id(), key);
    }

    /// Replaces a key by a copy with another name or expiry.
    void replace(TeamKey key) {
        byHash.replaceAll((_, known) -> known.id().equals(key.id()) ? key : known);
        byId.replace(key.id(), key);
    }

    void remove(Set<String> ids) {
        byHash.values().removeIf(key -> ids.contains(key.id()));
        byId.keySet().removeAll(ids);
    }

    /// The lookup is by a hash, so its time reveals nothing about a key.
    @Nullable
    TeamKey ofHash(String hash) {
        return byHash.get(hash);
    }

    Optional<TeamKey> ofId(String id) {
        return Optional.ofNullable(byId.get(id));
    }

    Set<String> ids(Predicate<TeamKey> which) {
        return all().filter(which).map(TeamKey::id).collect(Collectors.toSet());
    }

    Stream<TeamKey> all() {
        return byId.values().stream();
    }
}
