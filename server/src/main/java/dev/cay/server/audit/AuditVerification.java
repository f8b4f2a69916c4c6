package dev.cay.server.audit;

import dev.cay.http.Json;
import dev.cay.server.store.Store;
import java.time.Instant;
import java.util.Objects;
import org.jdbi.v3.core.Handle;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/// Reads the whole chain and finds the first entry that was changed, removed, added or moved.
final class AuditVerification {
    /// The action of entries that tell of a removal.
    static final String REMOVAL = "audit.remove";

    private static final int PORTION = 1000;

    /// @param entries how many entries are right
    /// @param removed how many entries before the first were removed by retention, as far as known
    /// @param wrong   number of the first entry that is wrong; null if none is
    /// @param problem what is wrong with it
    record Finding(
            long entries,
            long removed,
            long headSequence,
            String headHash,
            @Nullable Long wrong,
            @Nullable String problem) {}

    /// Retention may remove the beginning while it is read, which looks like a gap, so reading is repeated.
    private static final int ATTEMPTS = 3;

    private final Store store;
    private long sequence;
    private String hash = AuditChain.BEGINNING;
    private long entries;
    private long confirmed;

    private AuditVerification(Store store) {
        this.store = store;
    }

    static Finding run(Store store) {
        for (int attempt = 1; ; attempt++) {
            var finding = new AuditVerification(store).check();
            boolean moved = finding.removed() != store.read(AuditVerification::beginning);
            if (finding.wrong() == null || !moved || attempt == ATTEMPTS) {
                return finding;
            }
        }
    }

    private static long beginning(Handle handle) {
        return AuditStore.removed(handle).map(AuditStore.Removed::lastSequence).orElse(0L);
    }

    private Finding check() {
        var head = store.read(AuditStore::head);
        var removed = store.read(AuditStore::removed);
        long first = removed.map(AuditStore.Removed::lastSequence).orElse(0L);
        sequence = first;
        hash = removed.map(AuditStore.Removed::lastHash).orElse(AuditChain.BEGINNING);
        while (sequence < head.sequence()) {
            long after = sequence;
            var rows = store.read(handle -> AuditStore.rows(handle, after, PORTION));
            if (rows.isEmpty()) {
                return finding(head, first, sequence + 1, "it is missing, with all entries after it");
            }
            for (var row : rows) {
                String problem = check(row);
                if (problem != null) {
                    return finding(head, first, sequence + 1, problem);
                }
                if (sequence == head.sequence() && !hash.equals(head.hash())) {
                    return finding(head, first, sequence, "its hash is not the one noted as the end of the chain");
                }
            }
        }
        if (confirmed < first) {
            return finding(
                    head, first, first, "no entry tells that it and those before it were removed because of their age");
        }
        Long surplus = store.read(AuditStore::surplus);
        return surplus > 0
                ? finding(head, first, surplus, "it stands behind the noted end of the chain")
                : finding(head, first, null, null);
    }

    private @Nullable String check(AuditStore.Row row) {
        if (row.link().sequence() != sequence + 1) {
            return "it is missing: entry %d follows".formatted(row.link().sequence());
        }
        if (!row.link().follows(hash)) {
            return "it was changed or moved: its hash does not follow from the entry before";
        }
        var body = Json.mapper().readTree(row.link().body());
        if (!isSame(row, body)) {
            return "a column says something else than the entry";
        }
        if (row.action().equals(REMOVAL)) {
            confirmed = Math.max(confirmed, body.path("removedTo").asLong(0));
        }
        sequence = row.link().sequence();
        hash = row.link().hash();
        entries++;
        return null;
    }

    private static boolean isSame(AuditStore.Row row, JsonNode body) {
        return body.path("sequence").asLong(0) == row.link().sequence()
                && Objects.equals(text(body, "action"), row.action())
                && Objects.equals(text(body, "actor"), row.actor())
                && Objects.equals(text(body, "team"), row.team())
                && Objects.equals(text(body, "sandbox"), row.sandbox())
                && Objects.equals(
                        text(body, "time"), Instant.ofEpochMilli(row.at()).toString());
    }

    private static @Nullable String text(JsonNode body, String field) {
        return body.has(field) ? body.get(field).asString("") : null;
    }

    private Finding finding(AuditStore.Head head, long first, @Nullable Long wrong, @Nullable String problem) {
        return new Finding(entries, first, head.sequence(), head.hash(), wrong, problem);
    }
}
