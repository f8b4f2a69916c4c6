package dev.cay.server.store;

import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.time.Instant;
import java.util.Optional;
import org.jdbi.v3.core.Handle;

/// Which Cay the records belong to. A second one that is pointed at the same database would find none of the sandboxes
/// on its own machine, and take all of them for ended.
public final class StoreOwner {
    private static final int OWNER = 1;
    /// Marker in place of an owner while a copy is being made.
    private static final int COPY = 0;

    private StoreOwner() {}

    /// Checks that the records belong to this Cay. A database without an owner that other machines can reach belongs to
    /// this Cay from now on.
    ///
    /// @param fingerprint identifies a Cay
    /// @throws CayException when the database belongs to another one
    public static void require(Store store, String fingerprint, Instant at) {
        if (store.read(handle -> find(handle, COPY)).isPresent()) {
            throw new CayException(
                    ErrorKind.CONFLICT,
                    "the database holds an unfinished copy; run `cay store migrate` to its end, or use the old one");
        }
        if (!store.isShared()) {
            return;
        }
        String owner = store.write(handle -> {
            put(handle, OWNER, fingerprint, at);
            return find(handle, OWNER).orElseThrow();
        });
        if (!owner.equals(fingerprint)) {
            throw new CayException(
                    ErrorKind.CONFLICT,
                    "the database belongs to another Cay; give this one a database of its own, or run `cay store claim` if the other one will never run again");
        }
    }

    /// Makes this Cay the owner of the records, whichever Cay owned them.
    public static void claim(Store store, String fingerprint, Instant at) {
        store.write(handle -> {
            remove(handle, OWNER);
            return put(handle, OWNER, fingerprint, at);
        });
    }

    static boolean isCopyUnderWay(Handle handle) {
        return find(handle, COPY).isPresent();
    }

    static int beginCopy(Handle handle) {
        return put(handle, COPY, "copy", Instant.EPOCH);
    }

    static int endCopy(Handle handle) {
        return remove(handle, COPY);
    }

    private static Optional<String> find(Handle handle, int id) {
        return handle.createQuery("SELECT fingerprint FROM store_owner WHERE id = :id")
                .bind("id", id)
                .mapTo(String.class)
                .findFirst();
    }

    private static int put(Handle handle, int id, String fingerprint, Instant at) {
        return handle.execute(
                "INSERT INTO store_owner (id, fingerprint, claimed_at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
                id,
                fingerprint,
                at.toEpochMilli());
    }

    private static int remove(Handle handle, int id) {
        return handle.execute("DELETE FROM store_owner WHERE id = ?", id);
    }
}
