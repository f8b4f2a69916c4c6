package dev.cay.server.access;

import dev.cay.server.store.Store;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.TeamId;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Predicate;
import org.jdbi.v3.core.Handle;
import org.jspecify.annotations.Nullable;

/// Makes, changes and revokes API keys. Each change is stored before it takes effect. Thread-safe; keys are made one
/// at a time, so that their number never exceeds the limit.
public final class ApiKeys {
    private static final int LONGEST_NAME = 200;
    private static final int MOST = 1000;

    /// The properties of a new key.
    ///
    /// @param end null for never
    public record Wanted(
            String name, KeyScope scope, @Nullable Instant end) {}

    /// @param text the key itself, which cannot be shown again
    public record Made(TeamKey key, String text) {}

    private final Store store;
    private final Access access;
    private final KnownTeams known;
    private final InstantSource clock;
    private final SecureRandom random;

    public ApiKeys(Store store, Access access, InstantSource clock, SecureRandom random) {
        this.store = store;
        this.access = access;
        this.known = access.known();
        this.clock = clock;
        this.random = random;
    }

    /// The keys of a team, the oldest first.
    public List<TeamKey> list(Team team) {
        return known.keysOf(team).stream()
                .sorted(Comparator.comparing(TeamKey::createdAt).thenComparing(TeamKey::id))
                .toList();
    }

    /// The number of keys of each team; teams without any are left out.
    public Map<TeamId, Integer> countByTeam() {
        return known.keyCounts();
    }

    /// Creates a key. A key that was made with another key has no wider scope and no later end.
    ///
    /// @param maker null for the operator
    public synchronized Made create(Team team, Wanted wanted, @Nullable TeamKey maker) {
        var now = clock.instant();
        if (wanted.end() != null && !wanted.end().isAfter(now)) {
            throw invalid("'expiresAt' must be in the future");
        }
        if (maker != null && maker.scope().kind() != KeyScope.Kind.ALL) {
            throw new CayException(
                    ErrorKind.PERMISSION_DENIED,
                    "only a key that may do everything makes other keys; this one's scope is " + maker.scope());
        }
        requireUnlimited(maker);
        requireRoom(team);
        var end = earlier(wanted.end(), maker);
        return make(
                team,
                checked(wanted.name()),
                wanted.scope(),
                end,
                new Source(maker == null ? null : maker.person(), null));
    }

    private void requireRoom(Team team) {
        if (known.keysOf(team).size() >= MOST) {
            throw new CayException(
                    ErrorKind.EXHAUSTED,
                    "the team has %d API keys, which is the limit; revoke unused ones".formatted(MOST));
        }
    }

    /// This end, or that of a key if that comes first.
    private static @Nullable Instant earlier(@Nullable Instant end, @Nullable TeamKey key) {
        var latest = key == null ? null : key.expiresAt();
        return latest == null || (end != null && end.isBefore(latest)) ? end : latest;
    }

    private void requireUnlimited(@Nullable TeamKey maker) {
        if (maker != null && access.admission().isLimited(maker)) {
            throw new CayException(
                    ErrorKind.PERMISSION_DENIED,
                    "the API key '%s' has limits of its own, so it makes no other keys".formatted(maker.name()));
        }
    }

    /// Refuses a key with an end or with limits of its own, for what lets others into the team without them.
    ///
    /// @param key null for the operator
    public void requireUnbounded(@Nullable TeamKey key) {
        if (key != null && (key.expiresAt() != null || access.admission().isLimited(key))) {
            throw new CayException(
                    ErrorKind.PERMISSION_DENIED,
                    "the API key '%s' has an end or limits of its own, so it changes no members".formatted(key.name()));
        }
    }

    /// Makes a key with a person's rights in each of their teams, for a program of theirs; all of them or none. They
    /// are revoked when the sign-in ends, and that of a team when the person leaves it.
    ///
    /// @param rights what the person may do, where, and by which sign-in
    /// @param most   how many such keys a person has in a team; the oldest is revoked for a further one
    public synchronized List<Made> mint(List<TeamKey> rights, String name, int most) {
        // Before a key makes room for one that cannot be made.
        for (var one : rights) {
            if (mintedLike(one).size() < most) {
                requireRoom(one.team());
            }
        }
        var made = new ArrayList<Made>();
        try {
            for (var one : rights) {
                made.add(mint(one, name, most));
            }
            return List.copyOf(made);
        } catch (RuntimeException e) {
            made.forEach(one -> revoke(one.key().team(), one.key().id()));
            throw e;
        }
    }

    private Made mint(TeamKey rights, String name, int most) {
        var team = rights.team();
        var earlier = mintedLike(rights);
        earlier.stream().limit(Math.max(0, earlier.size() - most + 1)).forEach(key -> revoke(team, key.id()));
        return make(team, checked(name), rights.scope(), null, new Source(rights.person(), rights.signIn()));
    }

    /// The keys of the same person in the same team, the oldest first.
    private List<TeamKey> mintedLike(TeamKey rights) {
        return list(rights.team()).stream()
                .filter(key -> key.isMinted() && Objects.equals(key.person(), rights.person()))
                .toList();
    }

    /// Revokes the keys that were minted for a sign-in, and cuts open requests with its tokens.
    public void end(String signIn) {
        revokeMinted(key -> signIn.equals(key.signIn()));
        access.cutSignIn(signIn);
    }

    /// Deletes the keys of a sign-in from the store, in the transaction that ends it. {@link #end} goes on from there.
    public static void deleteMinted(Handle handle, String signIn) {
        AccessStore.deleteMinted(handle, signIn);
    }

    /// Deletes a person's minted keys of a team from the store, in the transaction that changes their rights.
    /// {@link #revokeMinted} goes on from there.
    public static void deleteMinted(Handle handle, String person, TeamId team) {
        AccessStore.deleteMinted(handle, person, team);
    }

    /// Revokes minted keys of all teams.
    public void revokeMinted(Predicate<TeamKey> which) {
        known.minted().stream().filter(which).forEach(key -> revoke(key.team(), key.id()));
    }

    /// The origin of a new key.
    ///
    /// @param person who has it or made it; null for none
    /// @param signIn that it is minted for; null for none
    private record Source(@Nullable String person, @Nullable String signIn) {}

    private Made make(Team team, String name, KeyScope scope, @Nullable Instant end, Source source) {
        var key = ApiKey.random(random);
        var kept = key.kept(team, name, scope, clock.instant(), end).madeBy(source.person(), source.signIn());
        store.write(handle -> {
            Teams.requireThere(handle, team.id());
            AccessStore.insertKey(handle, kept, key.hash());
            return kept;
        });
        known.add(key.hash(), kept);
        return new Made(kept, key.text());
    }

    public synchronized TeamKey rename(Team team, String id, String name) {
        return change(require(team, id).named(checked(name)));
    }

    private TeamKey change(TeamKey key) {
        store.write(handle -> {
            AccessStore.updateKey(handle, key);
            return key;
        });
        known.replace(key);
        return key;
    }

    /// Revokes a key: later requests with it are refused, and open ones are cut.
    public synchronized void revoke(Team team, String id) {
        var key = require(team, id);
        store.write(handle -> {
            AccessStore.deleteKey(handle, key.id());
            return key;
        });
        known.remove(key);
    }

    /// Makes another key in place of this one, which stays valid for a while. Both share the limits. One transaction
    /// makes the one and ends the other.
    ///
    /// @param overlap how long the old key stays valid; zero for not at all
    /// @param maker   null for the operator
    public synchronized Made rotate(Team team, String id, Duration overlap, @Nullable TeamKey maker) {
        requireUnlimited(maker);
        var old = require(team, id);
        var now = clock.instant();
        if (old.isOver(now)) {
            throw new CayException(
                    ErrorKind.CONFLICT,
                    "the API key '%s' expired at %s, and so would one in its place; make another with `cay key create`"
                            .formatted(old.name(), old.expiresAt()));
        }
        if (!overlap.isZero()) {
            requireRoom(team);
        }
        // The person who sees the new key loses it on leaving the team, if it is minted.
        String person = maker == null || maker.person() == null ? old.person() : maker.person();
        var key = ApiKey.random(random);
        var fresh = key.kept(team, old.name(), old.scope(), now, earlier(old.expiresAt(), maker))
                .madeBy(person, old.signIn())
                .after(old);
        var ending = old.until(earlier(now.plus(overlap), old));
        store.write(handle -> {
            Teams.requireThere(handle, team.id());
            AccessStore.insertKey(handle, fresh, key.hash());
            AccessStore.takeLimits(handle, fresh, old);
            if (overlap.isZero()) {
                AccessStore.deleteKey(handle, old.id());
            } else {
                AccessStore.updateKey(handle, ending);
            }
            return fresh;
        });
        known.add(key.hash(), fresh);
        if (overlap.isZero()) {
            known.remove(old);
        } else {
            known.replace(ending);
        }
        return new Made(fresh, key.text());
    }

    public TeamKey require(Team team, String id) {
        return known.key(team, id)
                .orElseThrow(() ->
                        new CayException(ErrorKind.NOT_FOUND, "the team has no API key with id '%s'".formatted(id)));
    }

    private static String checked(String name) {
        String plain = name.strip();
        if (plain.isEmpty() || plain.length() > LONGEST_NAME || plain.chars().anyMatch(Character::isISOControl)) {
            throw invalid("'name' must have 1 to %d characters and no control characters".formatted(LONGEST_NAME));
        }
        return plain;
    }

    private static CayException invalid(String message) {
        return new CayException(ErrorKind.INVALID_ARGUMENT, "validation error: " + message);
    }
}
