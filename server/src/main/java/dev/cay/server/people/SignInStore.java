package dev.cay.server.people;

import dev.cay.server.access.ApiKeys;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.jdbi.v3.core.Handle;

/// The SQL of sign-ins, their secrets, and one-time links.
final class SignInStore {
    private static final String SIGN_INS = """
            SELECT s.id, s.kind, s.expires_at, p.id AS person_id, p.email
            FROM sign_in s JOIN person p ON p.id = s.person_id
            """;

    private SignInStore() {}

    static void insertLink(Handle handle, Secret link, Person person, Instant end) {
        handle.execute(
                "INSERT INTO sign_in_link (hash, person_id, expires_at) VALUES (?, ?, ?) ON CONFLICT (hash) DO NOTHING",
                link.hash(),
                person.id(),
                end.toEpochMilli());
    }

    /// Whom a link signs in, if it is good.
    static Optional<Person> findLink(Handle handle, Secret link, Instant now) {
        return handle.createQuery("""
                        SELECT p.id, p.email FROM sign_in_link l JOIN person p ON p.id = l.person_id
                        WHERE l.hash = ? AND l.expires_at > ? AND p.removed_at IS NULL
                        """)
                .bind(0, link.hash())
                .bind(1, now.toEpochMilli())
                .map((row, context) -> new Person(row.getString("id"), row.getString("email")))
                .findFirst();
    }

    /// @return whether it was there: of two who take a link at a time, one gets it
    static boolean takeLink(Handle handle, Secret link) {
        return handle.execute("DELETE FROM sign_in_link WHERE hash = ?", link.hash()) == 1;
    }

    static void insert(Handle handle, SignIn signIn, Secret secret, Instant now) {
        handle.execute(
                """
                INSERT INTO sign_in (id, person_id, kind, created_at, expires_at) VALUES (?, ?, ?, ?, ?)
                ON CONFLICT (id) DO NOTHING
                """,
                signIn.id(),
                signIn.person().id(),
                signIn.kind().word(),
                now.toEpochMilli(),
                signIn.end().toEpochMilli());
        insertSecret(handle, signIn.id(), secret, now);
    }

    static void insertSecret(Handle handle, String signIn, Secret secret, Instant now) {
        handle.execute("""
                INSERT INTO sign_in_secret (hash, sign_in_id, created_at) VALUES (?, ?, ?)
                ON CONFLICT (hash) DO NOTHING
                """, secret.hash(), signIn, now.toEpochMilli());
    }

    /// Others that change the person wait until this transaction ends.
    ///
    /// @return false if the operator has removed them
    static boolean lock(Handle handle, Person person) {
        return handle.execute("UPDATE person SET removed_at = NULL WHERE id = ? AND removed_at IS NULL", person.id())
                == 1;
    }

    static void extend(Handle handle, String signIn, Instant end) {
        handle.execute("UPDATE sign_in SET expires_at = ? WHERE id = ?", end.toEpochMilli(), signIn);
    }

    static Optional<SignIn> find(Handle handle, String id, Instant now) {
        return handle.createQuery(SIGN_INS + "WHERE s.id = ? AND s.expires_at > ? AND p.removed_at IS NULL")
                .bind(0, id)
                .bind(1, now.toEpochMilli())
                .map((row, context) -> signIn(row))
                .findFirst();
    }

    /// What a secret proves, used or not.
    static Optional<SignIn> findBySecret(Handle handle, Secret secret, Instant now) {
        return handle.createQuery("SELECT sign_in_id FROM sign_in_secret WHERE hash = ?")
                .bind(0, secret.hash())
                .mapTo(String.class)
                .findFirst()
                .flatMap(id -> find(handle, id, now));
    }

    static boolean knows(Handle handle, Secret secret) {
        return handle.createQuery("SELECT COUNT(*) FROM sign_in_secret WHERE hash = ?")
                        .bind(0, secret.hash())
                        .mapTo(Integer.class)
                        .one()
                > 0;
    }

    /// @return whether it was unused: of two who use it at a time, one does
    static boolean use(Handle handle, Secret secret, Instant now) {
        return handle.execute(
                        "UPDATE sign_in_secret SET used_at = ? WHERE hash = ? AND used_at IS NULL",
                        now.toEpochMilli(),
                        secret.hash())
                == 1;
    }

    /// With the keys that were minted for it.
    static void delete(Handle handle, String id) {
        ApiKeys.deleteMinted(handle, id);
        forget(handle, id);
    }

    private static void forget(Handle handle, String id) {
        handle.execute("DELETE FROM sign_in_secret WHERE sign_in_id = ?", id);
        handle.execute("DELETE FROM sign_in WHERE id = ?", id);
    }

    static void deleteAllOf(Handle handle, Person person) {
        handle.execute("DELETE FROM sign_in_link WHERE person_id = ?", person.id());
        idsOf(handle, person).forEach(id -> delete(handle, id));
    }

    private static List<String> idsOf(Handle handle, Person person) {
        return handle.createQuery("SELECT id FROM sign_in WHERE person_id = ?")
                .bind(0, person.id())
                .mapTo(String.class)
                .list();
    }

    /// Removes what is over. A sign-in for which there are keys stays: its program can still give them back.
    static void deleteOld(Handle handle, Instant now) {
        handle.execute("DELETE FROM sign_in_link WHERE expires_at <= ?", now.toEpochMilli());
        handle.createQuery("""
                        SELECT id FROM sign_in WHERE expires_at <= ?
                        AND id NOT IN (SELECT sign_in_id FROM api_key WHERE sign_in_id IS NOT NULL) LIMIT 100
                        """)
                .bind(0, now.toEpochMilli())
                .mapTo(String.class)
                .list()
                .forEach(id -> forget(handle, id));
    }

    private static SignIn signIn(ResultSet row) throws SQLException {
        return new SignIn(
                row.getString("id"),
                new Person(row.getString("person_id"), row.getString("email")),
                SignIn.Kind.of(row.getString("kind")),
                Instant.ofEpochMilli(row.getLong("expires_at")));
    }
}
