package dev.cay.server.people;

import dev.cay.life.Steps;
import dev.cay.server.access.Access;
import dev.cay.server.access.ApiKeys;
import dev.cay.server.access.KeyScope;
import dev.cay.server.access.Team;
import dev.cay.server.access.TeamKey;
import dev.cay.server.access.Teams;
import dev.cay.server.store.Store;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.stream.Collectors;
import org.jdbi.v3.core.Handle;

/// Adds people to teams and removes them. Each change is stored before it takes effect. Thread-safe.
final class People {
    private static final int MOST_MEMBERS = 1000;

    private final Store store;
    private final Access access;
    private final ApiKeys keys;
    private final InstantSource clock;

    People(Store store, Access access, ApiKeys keys, InstantSource clock) {
        this.store = store;
        this.access = access;
        this.keys = keys;
        this.clock = clock;
    }

    /// Revokes keys that were minted for people who have left since: an earlier daemon may have been killed
    /// before it did.
    void settle() {
        var members = store.read(PeopleStore::people).stream()
                .flatMap(person -> memberships(person).stream())
                .map(member -> member.person().id() + " " + member.team().id())
                .collect(Collectors.toSet());
        keys.revokeMinted(
                key -> !members.contains(key.person() + " " + key.team().id()));
    }

    /// What a transaction that adds a person to a team checks first.
    private interface Check {
        void check(Handle handle, String email);
    }

    /// Adds a person to a team, or changes their rights there. Keys that were minted for them with the earlier rights
    /// are revoked.
    Member add(Team team, String email, KeyScope scope) {
        return put(team, email, scope, (_, _) -> {});
    }

    /// The same on the word of the team, which brings nobody back whom the operator has removed, and adds only so many.
    Member addForTeam(Team team, String email, KeyScope scope) {
        return put(team, email, scope, (handle, address) -> {
            if (PeopleStore.find(handle, address)
                    .filter(PeopleStore.Known::removed)
                    .isPresent()) {
                throw new CayException(
                        ErrorKind.PERMISSION_DENIED,
                        "the operator has removed %s, and alone can add them again: `cay team member add %s %s`"
                                .formatted(address, team.slug(), address));
            }
            var members = PeopleStore.membersOf(handle, team);
            if (members.size() >= MOST_MEMBERS
                    && members.stream()
                            .noneMatch(member -> member.person().email().equals(address))) {
                throw new CayException(
                        ErrorKind.EXHAUSTED,
                        "the team has %d members, which is the limit; remove some first".formatted(MOST_MEMBERS));
            }
        });
    }

    private Member put(Team team, String email, KeyScope scope, Check check) {
        if (scope.kind() == KeyScope.Kind.SANDBOX) {
            throw new CayException(
                    ErrorKind.INVALID_ARGUMENT, "'scope' of a person must be all, read, sandboxes or templates");
        }
        var fresh = new Person(UUID.randomUUID().toString(), Person.email(email));
        var before = findMember(team, fresh.email());
        var member = store.write(handle -> {
            Teams.requireThere(handle, team.id());
            check.check(handle, fresh.email());
            PeopleStore.insert(handle, fresh, clock.instant());
            var made = new Member(person(handle, fresh.email()).orElse(fresh), team, scope);
            PeopleStore.putMember(handle, made, clock.instant());
            if (before.isPresent() && !before.get().scope().equals(scope)) {
                ApiKeys.deleteMinted(handle, made.person().id(), team.id());
            }
            return made;
        });
        if (before.isPresent() && !before.get().scope().equals(scope)) {
            endRights(member);
        }
        return member;
    }

    /// From here on the person has no rights in the team, and the keys that were minted for them there are refused.
    ///
    /// @return keys that the person made for the team, which stay
    List<TeamKey> removeMember(Member member) {
        var person = member.person();
        var team = member.team();
        store.write(handle -> {
            PeopleStore.removeMember(handle, member, clock.instant());
            ApiKeys.deleteMinted(handle, person.id(), team.id());
            return member;
        });
        endRights(member);
        return keysOf(person, team);
    }

    /// Keys that a person made for the team and that may do what the person may not, or not any more. They stay, as
    /// other programs may use them.
    List<TeamKey> widerThan(Member member) {
        return keysOf(member.person(), member.team()).stream()
                .filter(key -> !member.scope().covers(key.scope()))
                .toList();
    }

    private void endRights(Member member) {
        Steps.reach("rights-changed");
        keys.revokeMinted(
                key -> key.team().equals(member.team()) && member.person().id().equals(key.person()));
        access.cut(rights(member));
    }

    /// As a key.
    static TeamKey rights(Member member) {
        var person = member.person();
        return TeamKey.ofPerson(person.id(), person.email(), member.team(), member.scope(), null);
    }

    /// Removes a person from all teams, and ends all their sign-ins.
    ///
    /// @return keys that they made, which stay valid
    List<TeamKey> remove(String email) {
        var person = require(email);
        var memberships = memberships(person);
        store.write(handle -> {
            PeopleStore.remove(handle, person, clock.instant());
            SignInStore.deleteAllOf(handle, person);
            return person;
        });
        keys.revokeMinted(key -> person.id().equals(key.person()));
        memberships.forEach(member -> access.cut(rights(member)));
        return memberships.stream()
                .flatMap(member -> keysOf(person, member.team()).stream())
                .toList();
    }

    private List<TeamKey> keysOf(Person person, Team team) {
        return keys.list(team).stream()
                .filter(key -> person.id().equals(key.person()))
                .toList();
    }

    List<Person> list() {
        return store.read(PeopleStore::people);
    }

    List<Member> members(Team team) {
        return store.read(handle -> PeopleStore.membersOf(handle, team));
    }

    /// The teams of a person, the one they were added to first before all others.
    List<Member> memberships(Person person) {
        return store.read(handle -> PeopleStore.membershipsOf(handle, person.id()));
    }

    Optional<Person> find(String email) {
        return store.read(handle -> person(handle, Person.email(email)));
    }

    Person require(String email) {
        return find(email)
                .orElseThrow(() -> new CayException(
                        ErrorKind.NOT_FOUND,
                        "there is no person %s; `cay team member add TEAM EMAIL` adds people"
                                .formatted(Person.email(email))));
    }

    Optional<Member> findMember(Team team, String email) {
        String address = Person.email(email);
        return members(team).stream()
                .filter(member -> member.person().email().equals(address))
                .findFirst();
    }

    private static Optional<Person> person(Handle handle, String email) {
        return PeopleStore.find(handle, email).filter(known -> !known.removed()).map(PeopleStore.Known::person);
    }
}
