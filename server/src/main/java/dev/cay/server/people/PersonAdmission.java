package dev.cay.server.people;

import dev.cay.server.access.KeyScope;
import dev.cay.server.access.Team;
import dev.cay.server.access.Teams;
import dev.cay.server.store.Store;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.time.InstantSource;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import org.jdbi.v3.core.Handle;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Decides whom an issuer's word lets in: people whom the operator added to a team, and people of domains that the
/// operator named. Thread-safe.
final class PersonAdmission {
    private static final Logger log = LoggerFactory.getLogger(PersonAdmission.class);

    /// People with addresses of this domain are members of this team.
    ///
    /// @param team slug of the team
    record Domain(String name, String team, KeyScope scope) {
        /// @param text like `example.org=research` or `example.org=research:read`
        static Domain parse(String text) {
            int equals = text.indexOf('=');
            String team = text.substring(equals + 1);
            int colon = team.indexOf(':');
            return new Domain(
                    text.substring(0, equals),
                    colon < 0 ? team : team.substring(0, colon),
                    colon < 0 ? KeyScope.ALL : KeyScope.parse(team.substring(colon + 1)));
        }
    }

    private final Store store;
    private final Teams teams;
    private final List<Domain> domains;
    private final InstantSource clock;

    PersonAdmission(Store store, Teams teams, List<Domain> domains, InstantSource clock) {
        this.store = store;
        this.teams = teams;
        this.domains = List.copyOf(domains);
        this.clock = clock;
    }

    /// The person who has this account.
    ///
    /// The account is recorded at the first sign-in: a later owner of the same address does not get the
    /// rights of the earlier one.
    ///
    /// @param account the issuer's permanent identifier of the person
    /// @param email   which the issuer has verified
    /// @throws CayException if they may not sign in
    Person admit(String account, String email) {
        String address = Person.email(email);
        var own = ownTeams(Person.domain(address));
        var fresh = new Person(UUID.randomUUID().toString(), address);
        return store.write(handle -> {
            var known = PeopleStore.find(handle, address);
            if (known.isEmpty() ? own.isEmpty() : known.get().removed()) {
                throw refused(address);
            }
            if (known.isEmpty()) {
                PeopleStore.insert(handle, fresh, clock.instant());
            }
            var person = known.map(PeopleStore.Known::person).orElse(fresh);
            pin(handle, person, known.map(PeopleStore.Known::account), account);
            own.forEach((team, scope) -> join(handle, new Member(person, team, scope)));
            if (PeopleStore.membershipsOf(handle, person.id()).isEmpty()) {
                throw refused(address);
            }
            return person;
        });
    }

    private static void pin(Handle handle, Person person, Optional<String> before, String account) {
        if (before.isPresent() && !before.get().equals(account)) {
            throw new CayException(
                    ErrorKind.PERMISSION_DENIED,
                    "%s belongs to another account of the issuer than before; the operator can let this one in with `cay person remove %s`, and then `cay team member add`"
                            .formatted(person.email(), person.email()));
        }
        PeopleStore.pin(handle, person, account);
    }

    /// The teams that all people of a domain are in.
    private Map<Team, KeyScope> ownTeams(String name) {
        var own = new LinkedHashMap<Team, KeyScope>();
        var all = teams.list();
        for (var domain : domains) {
            if (!domain.name().equals(name)) {
                continue;
            }
            var team = all.stream()
                    .filter(known -> known.slug().equals(domain.team()))
                    .findFirst();
            if (team.isPresent()) {
                own.put(team.get(), domain.scope());
            } else {
                log.atWarn().addKeyValue("team", domain.team()).log("signIn.domains names a team that does not exist");
            }
        }
        return own;
    }

    /// Does not add a person again whom the operator removed from the team.
    private void join(Handle handle, Member member) {
        if (!PeopleStore.wasMember(handle, member.person(), member.team())) {
            PeopleStore.putMember(handle, member, clock.instant());
        }
    }

    private static CayException refused(String email) {
        return new CayException(
                ErrorKind.PERMISSION_DENIED,
                "%s is a member of no team here; the operator can change that with `cay team member add TEAM %s`"
                        .formatted(email, email));
    }
}
