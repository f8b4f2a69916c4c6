package dev.cay.server.audit;

import dev.cay.http.Json;
import java.time.Instant;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/// An action, before it has its place in the chain.
///
/// @param id      the same however often the entry is written
/// @param action  like `sandbox.create`
/// @param actor   `key:ID`, `operator`, `daemon`, or `unknown`
/// @param team    the team that the action concerns; null for none
/// @param sandbox the sandbox that it concerns; null for none
/// @param facts   further ids, addresses and numbers, never a secret or a text of users
record AuditEntry(
        String id,
        Instant at,
        String action,
        String actor,
        @Nullable String team,
        @Nullable String sandbox,
        Map<String, String> facts) {
    AuditEntry {
        facts = Map.copyOf(facts);
    }

    static AuditEntry of(
            Instant at,
            String action,
            String actor,
            @Nullable String team,
            @Nullable String sandbox,
            Map<String, String> facts) {
        return new AuditEntry(UUID.randomUUID().toString(), at, action, actor, team, sandbox, facts);
    }

    /// Something that the daemon does without being asked.
    static AuditEntry ofDaemon(Instant at, String action, Map<String, String> facts) {
        return of(at, action, "daemon", null, null, facts);
    }

    /// Canonical JSON: one line, fields in the order of their names, no spaces.
    String body(long sequence) {
        var fields = new TreeMap<String, Object>(facts);
        fields.put("id", id);
        fields.put("time", Instant.ofEpochMilli(at.toEpochMilli()).toString());
        fields.put("action", action);
        fields.put("actor", actor);
        fields.put("sequence", sequence);
        if (team != null) {
            fields.put("team", team);
        }
        if (sandbox != null) {
            fields.put("sandbox", sandbox);
        }
        return Json.text(fields);
    }
}
