package dev.cay.server.people;

import dev.cay.server.access.Access;
import dev.cay.server.access.ApiKeys;
import dev.cay.server.access.TeamKey;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.TeamId;
import io.github.bucket4j.Bucket;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/// What the access token of a person opens: their teams, with the rights they have there now. Thread-safe.
final class PersonTokens implements Access.People {
    private static final int MOST_KEYS = 10;
    private static final int MOST_MINTS = 30;
    private static final Duration WINDOW = Duration.ofMinutes(10);

    private final AccessTokens tokens;
    private final SignIns signIns;
    private final People people;
    private final ApiKeys keys;

    /// How often each person has asked for keys lately; there are as many as the operator added.
    private final Map<String, Bucket> mints = new ConcurrentHashMap<>();

    PersonTokens(AccessTokens tokens, SignIns signIns, People people, ApiKeys keys) {
        this.tokens = tokens;
        this.signIns = signIns;
        this.people = people;
        this.keys = keys;
    }

    @Override
    public TeamKey rights(String token, @Nullable TeamId team) {
        var signIn = require(token);
        if (team == null) {
            throw new CayException(
                    ErrorKind.INVALID_ARGUMENT,
                    "a token of a person opens several teams: send the id of one in the header 'X-Team-ID'");
        }
        return people.memberships(signIn.person()).stream()
                .filter(member -> member.team().id().equals(team))
                .findFirst()
                .map(member -> rights(signIn, member))
                .orElseThrow(() -> new CayException(
                        ErrorKind.PERMISSION_DENIED,
                        "%s is no member of team %s".formatted(signIn.person().email(), team)));
    }

    @Override
    public List<TeamKey> rights(String token) {
        var signIn = require(token);
        var rights = rights(signIn);
        if (rights.isEmpty()) {
            throw memberOfNone(signIn.person());
        }
        return rights;
    }

    private List<TeamKey> rights(SignIn signIn) {
        return people.memberships(signIn.person()).stream()
                .map(member -> rights(signIn, member))
                .toList();
    }

    @Override
    public List<Minted> mint(String token, List<TeamKey> rights) {
        var signIn = require(token);
        requirePatience(signIn.person());
        String name = "E2B CLI of " + signIn.person().email();
        var made = keys.mint(rights, name, MOST_KEYS).stream()
                .map(one -> new Minted(one.key(), one.text()))
                .toList();
        requireUnchanged(signIn, rights);
        return made;
    }

    /// Each key is a row in the store and ends another one. People sign in with a program a few times a day.
    private void requirePatience(Person person) {
        var probe = mints.computeIfAbsent(person.id(), _ -> bucket()).tryConsumeAndReturnRemaining(1);
        if (!probe.isConsumed()) {
            throw CayException.exhausted(
                    "%s may ask for new API keys %d times in %d minutes; use the keys that were made"
                            .formatted(person.email(), MOST_MINTS, WINDOW.toMinutes()),
                    Duration.ofNanos(probe.getNanosToWaitForRefill()));
        }
    }

    private static Bucket bucket() {
        return Bucket.builder()
                .addLimit(limit -> limit.capacity(MOST_MINTS).refillGreedy(MOST_MINTS, WINDOW))
                .build();
    }

    /// Refuses the new keys if the person was removed or signed out while they were minted.
    private void requireUnchanged(SignIn signIn, List<TeamKey> rights) {
        if (signIns.find(signIn.id()).isEmpty() || !rights(signIn).equals(rights)) {
            keys.revokeMinted(key -> signIn.id().equals(key.signIn()));
            throw new CayException(
                    ErrorKind.CONFLICT,
                    "the rights of %s change right now; try again"
                            .formatted(signIn.person().email()));
        }
    }

    static CayException memberOfNone(Person person) {
        return new CayException(
                ErrorKind.PERMISSION_DENIED,
                "%s is a member of no team any more; the operator can change that with `cay team member add`"
                        .formatted(person.email()));
    }

    @Override
    public boolean knows(String token) {
        return tokens.isOurs(token);
    }

    @Override
    public Optional<TeamKey> rightsNow(String signIn, TeamId team) {
        return signIns.find(signIn)
                .flatMap(found -> rights(found).stream()
                        .filter(rights -> rights.team().id().equals(team))
                        .findFirst());
    }

    private SignIn require(String token) {
        return tokens.signIn(token)
                .flatMap(signIns::find)
                .orElseThrow(() -> new CayException(
                        ErrorKind.UNAUTHENTICATED,
                        "the access token is not good here any more; run `e2b auth login` again"));
    }

    private static TeamKey rights(SignIn signIn, Member member) {
        var person = signIn.person();
        return TeamKey.ofPerson(person.id(), person.email(), member.team(), member.scope(), signIn.id());
    }
}
