package dev.cay.server.people;

import dev.cay.server.access.Access;
import dev.cay.server.access.ApiKeys;
import dev.cay.server.access.TeamKey;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.TeamId;
import dev.cay.wire.rest.TeamInfo;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// What the access token of a person opens: their teams, with the rights they have there now. Thread-safe.
final class PersonTokens implements Access.People {
    private static final int MOST_KEYS = 10;

    private final AccessTokens tokens;
    private final SignIns signIns;
    private final People people;
    private final ApiKeys keys;

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
    public List<TeamInfo> teams(String token) {
        var signIn = require(token);
        var memberships = people.memberships(signIn.person());
        if (memberships.isEmpty()) {
            throw memberOfNone(signIn.person());
        }
        String name = "E2B CLI of " + signIn.person().email();
        var teams = new ArrayList<TeamInfo>();
        for (var member : memberships) {
            var made = keys.mint(rights(signIn, member), name, MOST_KEYS);
            teams.add(new TeamInfo(member.team().id(), member.team().name(), made.text(), teams.isEmpty()));
        }
        requireUnchanged(signIn, memberships);
        return teams;
    }

    /// Somebody who is removed or signed out while keys are minted does not keep the keys.
    private void requireUnchanged(SignIn signIn, List<Member> memberships) {
        if (signIns.find(signIn.id()).isEmpty()
                || !people.memberships(signIn.person()).equals(memberships)) {
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
