package dev.cay.server.access;

import dev.cay.server.store.Store;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.TeamId;
import java.time.InstantSource;
import java.util.List;
import java.util.Locale;
import java.util.UUID;
import java.util.regex.Pattern;
import org.jdbi.v3.core.Handle;
import org.jspecify.annotations.Nullable;

/// Makes and removes teams. Thread-safe.
public final class Teams {
    private static final Pattern SLUG = Pattern.compile("[a-z0-9][a-z0-9-]{0,62}");
    private static final int LONGEST_NAME = 200;

    private final Store store;
    private final KnownTeams known;
    private final InstantSource clock;

    public Teams(Store store, Access access, InstantSource clock) {
        this.store = store;
        this.known = access.known();
        this.clock = clock;
    }

    /// All teams, oldest first.
    public List<Team> list() {
        return store.read(AccessStore::teams);
    }

    /// @param slug namespace of its templates' names; null to derive one from the name
    public Team create(String name, @Nullable String slug) {
        String plain = name.strip();
        if (plain.isEmpty() || plain.length() > LONGEST_NAME || plain.chars().anyMatch(Character::isISOControl)) {
            throw invalid("'name' must have 1 to %d characters and no control characters".formatted(LONGEST_NAME));
        }
        String wanted = slug == null ? slugOf(plain) : slug;
        if (wanted.isEmpty()) {
            throw invalid(
                    "'slug' is required: it cannot be derived from the name '%s', which has no letters from a to z and no digits"
                            .formatted(plain));
        }
        if (!SLUG.matcher(wanted).matches()) {
            throw invalid("'slug' must have lower-case letters, digits and hyphens, at most 63; '%s' has others"
                    .formatted(wanted));
        }
        var team = new Team(new TeamId(UUID.randomUUID().toString()), plain, wanted);
        store.write(handle -> {
            if (AccessStore.isSlugTaken(handle, team)) {
                throw new CayException(
                        ErrorKind.CONFLICT,
                        "a team with the slug '%s' is or was there; give another one".formatted(wanted));
            }
            AccessStore.insertTeam(handle, team, clock.instant());
            return team;
        });
        known.add(team);
        return team;
    }

    private static String slugOf(String name) {
        String plain =
                name.toLowerCase(Locale.ROOT).replaceAll("[^a-z0-9]+", "-").replaceAll("^-|-$", "");
        return plain.substring(0, Math.min(plain.length(), 63));
    }

    /// Checks in the transaction of a change that the team exists. A deletion of the team waits until this transaction
    /// ends.
    public static void requireThere(Handle handle, TeamId team) {
        if (!AccessStore.lock(handle, team)) {
            throw new CayException(ErrorKind.NOT_FOUND, "the team was deleted");
        }
    }

    /// Deletes a team and revokes its keys. Refused while the team has anything, including what is just being made.
    public void delete(Team team) {
        requireNotFirst(team);
        store.write(handle -> {
            AccessStore.lock(handle, team.id());
            long left = AccessStore.holdings(handle, team.id());
            if (left > 0) {
                throw new CayException(
                        ErrorKind.CONFLICT,
                        "team '%s' has %d sandboxes, templates, snapshots or volumes, or some are being made; end and delete these first"
                                .formatted(team.name(), left));
            }
            AccessStore.deleteTeam(handle, team, clock.instant());
            return team;
        });
        known.remove(team);
    }

    /// Refuses what would delete the first team.
    public void requireNotFirst(Team team) {
        if (team.equals(known.firstTeam())) {
            throw new CayException(
                    ErrorKind.CONFLICT, "the first team cannot be deleted: it owns the templates that come with Cay");
        }
    }

    private static CayException invalid(String message) {
        return new CayException(ErrorKind.INVALID_ARGUMENT, "validation error: " + message);
    }
}
