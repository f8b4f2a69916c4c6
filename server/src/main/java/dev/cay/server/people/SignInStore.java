package dev.cay.server.people;

import dev.cay.server.access.ApiKeys;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.jdbi.v3.core.Handle;
import org.jspecify.annotations.Nullable;

/// The SQL of sign-ins, their secrets, and one-time links.
final class SignInStore {
    private static final String SIGN_INS = """
            SELECT s.id, s.kind, s.expires_at, p.id AS person_id, p.email
            FROM sign_in s JOIN person p ON p.id = s.person_id
            """;

    /// The time of use of a token that nobody used and that must not be used any more.
    private static final long REPLACED = 0;

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
        insertSecret(handle, signIn.id(), secret, null, now);
    }

    /// @param before the refresh token that this one takes the place of; null for the first one
    static void insertSecret(Handle handle, String signIn, Secret secret, @Nullable Secret before, Instant now) {
        handle.execute("""
                INSERT INTO sign_in_secret (hash, sign_in_id, created_at, parent) VALUES (?, ?, ?, ?)
                ON CONFLICT (hash) DO NOTHING
                """, secret.hash(), signIn, now.toEpochMilli(), before == null ? null : before.hash());
    }

    /// Others that change the person wait until this transaction ends.
    ///
    /// @return false if the operator has removed them
    static boolean lock(Handle handle, Person person) {
        return handle.execute("UPDATE person SET removed_at = NULL WHERE id = ? AND removed_at IS NULL", person.id())
                == 1;
    }

    /// Others that renew this sign-in wait until this transaction ends.
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

    /// Whether a used refresh token may be used again: it was used within this time, and no token that took its
    /// place was used since.
    static boolean mayRepeat(Handle handle, Secret secret, Instant now, Duration within) {
        return handle.createQuery("""
                        SELECT COUNT(*) FROM sign_in_secret s WHERE hash = :hash AND used_at > :earliest AND used_at < :latest
                        AND NOT EXISTS (SELECT 1 FROM sign_in_secret n WHERE n.parent = s.hash AND n.used_at > :replaced)
                        """)
                        .bind("hash", secret.hash())
                        .bind("earliest", now.minus(within).toEpochMilli())
                        .bind("latest", now.plus(within).toEpochMilli())
                        .bind("replaced", REPLACED)
                        .mapTo(Integer.class)
                        .one()
                > 0;
    }

    /// Marks the tokens that took the place of this one as used long ago: another one takes its place now.
    static void replace(Handle handle, Secret secret) {
        handle.execute(
                "UPDATE sign_in_secret SET used_at = ? WHERE parent = ? AND used_at IS NULL", REPLACED, secret.hash());
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
