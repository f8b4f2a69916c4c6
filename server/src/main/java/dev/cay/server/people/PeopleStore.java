package dev.cay.server.people;

import dev.cay.server.access.KeyScope;
import dev.cay.server.access.Team;
import dev.cay.wire.TeamId;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.jdbi.v3.core.Handle;
import org.jspecify.annotations.Nullable;

/// The SQL of people and of their membership in teams.
final class PeopleStore {
    private static final String MEMBERS = """
            SELECT p.id AS person_id, p.email, t.id, t.name, t.slug, m.scope
            FROM member m JOIN person p ON p.id = m.person_id JOIN team t ON t.id = m.team_id
            WHERE m.removed_at IS NULL AND p.removed_at IS NULL AND t.deleted_at IS NULL
            """;

    private PeopleStore() {}

    /// A row of the table.
    ///
    /// @param account  whom the issuer knows them as; null before they first came from there
    /// @param removed  whether the operator removed them
    record Known(Person person, @Nullable String account, boolean removed) {}

    static Optional<Known> find(Handle handle, String email) {
        return handle.createQuery("SELECT id, email, account, removed_at FROM person WHERE email = ?")
                .bind(0, email)
                .map((row, context) ->
                        new Known(person(row, "id"), row.getString("account"), row.getString("removed_at") != null))
                .findFirst();
    }

    static List<Person> people(Handle handle) {
        return handle.createQuery("SELECT id, email FROM person WHERE removed_at IS NULL ORDER BY email")
                .map((row, context) -> person(row, "id"))
                .list();
    }

    static void insert(Handle handle, Person person, Instant at) {
        handle.execute("""
                INSERT INTO person (id, email, created_at) VALUES (?, ?, ?)
                ON CONFLICT (email) DO UPDATE SET removed_at = NULL
                """, person.id(), person.email(), at.toEpochMilli());
    }

    /// @param account null for the account of the next person who signs in with this address
    static void pin(Handle handle, Person person, @Nullable String account) {
        handle.execute("UPDATE person SET account = ? WHERE id = ?", account, person.id());
    }

    static void remove(Handle handle, Person person, Instant at) {
        handle.execute("DELETE FROM member WHERE person_id = ?", person.id());
        handle.execute("UPDATE person SET removed_at = ?, account = NULL WHERE id = ?", at.toEpochMilli(), person.id());
    }

    static void putMember(Handle handle, Member member, Instant at) {
        handle.execute(
                """
                INSERT INTO member (person_id, team_id, scope, added_at) VALUES (?, ?, ?, ?)
                ON CONFLICT (person_id, team_id) DO UPDATE SET scope = excluded.scope, removed_at = NULL
                """,
                member.person().id(),
                member.team().id().value(),
                member.scope().toString(),
                at.toEpochMilli());
    }

    /// The row stays, so that the person's domain does not bring them back.
    static void removeMember(Handle handle, Member member, Instant at) {
        handle.execute(
                "UPDATE member SET removed_at = ? WHERE person_id = ? AND team_id = ?",
                at.toEpochMilli(),
                member.person().id(),
                member.team().id().value());
    }

    static boolean wasMember(Handle handle, Person person, Team team) {
        return handle.createQuery("SELECT COUNT(*) FROM member WHERE person_id = ? AND team_id = ?")
                        .bind(0, person.id())
                        .bind(1, team.id().value())
                        .mapTo(Integer.class)
                        .one()
                > 0;
    }

    static List<Member> membersOf(Handle handle, Team team) {
        return handle.createQuery(MEMBERS + "AND t.id = ? ORDER BY p.email")
                .bind(0, team.id().value())
                .map((row, context) -> member(row))
                .list();
    }

    /// Those of a person, the one they were added to first before all others.
    static List<Member> membershipsOf(Handle handle, String personId) {
        return handle.createQuery(MEMBERS + "AND p.id = ? ORDER BY m.added_at, t.created_at, t.id")
                .bind(0, personId)
                .map((row, context) -> member(row))
                .list();
    }

    private static Member member(ResultSet row) throws SQLException {
        return new Member(
                person(row, "person_id"),
                new Team(new TeamId(row.getString("id")), row.getString("name"), row.getString("slug")),
                KeyScope.parse(row.getString("scope")));
    }

    private static Person person(ResultSet row, String id) throws SQLException {
        return new Person(row.getString(id), row.getString("email"));
    }
}
