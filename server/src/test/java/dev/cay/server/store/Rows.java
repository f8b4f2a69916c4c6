package dev.cay.server.store;

import org.jdbi.v3.core.Handle;

/// Rows that tests of stores write and count.
public final class Rows {
    private Rows() {}

    public static String insert(Handle handle, String id) {
        handle.execute("INSERT INTO team (id, name, slug, created_at) VALUES (?, ?, ?, 0)", id, id, id);
        return id;
    }

    public static long count(Handle handle) {
        return handle.createQuery("SELECT count(*) FROM team").mapTo(Long.class).one();
    }
}
