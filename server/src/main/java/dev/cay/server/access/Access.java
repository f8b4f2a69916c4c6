package dev.cay.server.access;

import dev.cay.http.Exchange;
import dev.cay.http.Handler;
import dev.cay.server.store.Store;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.TeamId;
import java.security.SecureRandom;
import java.time.InstantSource;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// Knows every API key by its hash and tells whose request it is, without asking the database.
public final class Access {
    static final String FIX = "; `cay env` prints the key of this server as E2B_API_KEY";

    /// Answers a request of a known team.
    public interface TeamHandler {
        void handle(Team team, Exchange exchange) throws Exception;
    }

    private final Store store;
    private final InstantSource clock;
    private final SecureRandom random;
    private final Map<String, Team> teams = new ConcurrentHashMap<>();
    private volatile @Nullable Team first;
    private volatile @Nullable String firstKey;

    public Access(Store store, InstantSource clock, SecureRandom random) {
        this.store = store;
        this.clock = clock;
        this.random = random;
    }

    /// Reads the keys; where there is no team yet, makes one with its first key.
    public void start() {
        var team = store.read(AccessStore::findOldestTeam).orElseGet(this::makeTeam);
        teams.putAll(store.read(AccessStore::teamsByKeyHash));
        first = team;
    }

    private Team makeTeam() {
        var fresh = new Team(new TeamId(UUID.randomUUID().toString()), "default", "default");
        var key = ApiKey.random(random);
        var team = store.write(handle -> {
            var found = AccessStore.findOldestTeam(handle);
            if (found.isEmpty()) {
                AccessStore.insertTeam(handle, fresh, clock.instant());
                AccessStore.insertKey(handle, fresh, "first key", key, clock.instant());
            }
            return found.orElse(fresh);
        });
        if (team.equals(fresh)) {
            firstKey = key.text();
        }
        return team;
    }

    /// The team made at first start, which owns what belongs to nobody else.
    public Team firstTeam() {
        Team team = first;
        if (team == null) {
            throw new IllegalStateException("not started");
        }
        return team;
    }

    /// The team with this id, which has or had a key.
    public Team requireTeam(TeamId id) {
        return Stream.concat(Stream.of(firstTeam()), teams.values().stream())
                .filter(team -> team.id().equals(id))
                .findFirst()
                .orElseThrow(() -> new CayException(ErrorKind.NOT_FOUND, "the team is gone"));
    }

    /// The key that this start made, if it was the first one.
    public Optional<String> firstKey() {
        return Optional.ofNullable(firstKey);
    }

    public String newKey(Team team, String name) {
        var key = ApiKey.random(random);
        store.write(handle -> {
            AccessStore.insertKey(handle, team, name, key, clock.instant());
            return team;
        });
        teams.put(key.hash(), team);
        return key.text();
    }

    /// Serves the handler only to requests with a valid key.
    public Handler guard(TeamHandler handler) {
        return exchange -> handler.handle(authenticate(exchange), exchange);
    }

    /// The same for keys of the first team alone, which are the operator's.
    public Handler guardOperator(TeamHandler handler) {
        return guard((team, exchange) -> {
            if (!team.equals(firstTeam())) {
                throw new CayException(
                        ErrorKind.PERMISSION_DENIED,
                        "only keys of the team '%s' may do this"
                                .formatted(firstTeam().name()));
            }
            handler.handle(team, exchange);
        });
    }

    /// Whose request this is. The map is keyed by hashes, so the time of a look-up tells nothing about a key.
    public Team authenticate(Exchange exchange) {
        Team team = teams.get(new ApiKey(credential(exchange)).hash());
        if (team == null) {
            throw unauthenticated("the API key is not known here: wrong key, or a key of another server" + FIX);
        }
        return team;
    }

    /// Whether this is a key of this server, whoever's.
    public boolean knows(String key) {
        return ApiKey.hasShape(key.strip()) && teams.containsKey(new ApiKey(key.strip()).hash());
    }

    /// The key of the request, wherever it stands.
    static String credential(Exchange exchange) {
        String key = exchange.header("X-API-Key");
        if (key != null && !key.isBlank()) {
            return key.strip();
        }
        String authorization = exchange.header("Authorization");
        if (authorization == null || authorization.isBlank()) {
            throw unauthenticated(
                    "the API key is missing: send it as header 'X-API-Key' or 'Authorization: Bearer <key>'" + FIX);
        }
        if (!authorization.regionMatches(true, 0, "Bearer ", 0, 7)) {
            throw unauthenticated("the header 'Authorization' must be 'Bearer <key>'" + FIX);
        }
        String bearer = authorization.substring(7).strip();
        if (!bearer.startsWith(ApiKey.PREFIX)) {
            throw unauthenticated(
                    "the header 'Authorization' holds no API key: access tokens and logins are not served by Cay, "
                            + "use a key that begins with 'e2b_'" + FIX);
        }
        return bearer;
    }

    private static CayException unauthenticated(String message) {
        return new CayException(ErrorKind.UNAUTHENTICATED, message);
    }
}
