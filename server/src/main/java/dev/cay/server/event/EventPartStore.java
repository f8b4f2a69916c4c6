package dev.cay.server.event;

import dev.cay.http.Json;
import dev.cay.server.store.JsonColumn;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ThreadLocalRandom;
import org.jdbi.v3.core.Handle;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// The SQL of large fields of event data, such as metadata of 64 KB.
///
/// All events of a sandbox have the same metadata, and each goes to up to 20 webhooks. So a large field is stored once
/// for each content, and events and messages name it. What a team has stored is limited: the fields that were used the
/// longest time ago go first, and events that had them say so in {@link #MISSING}.
public final class EventPartStore {
    /// The name in the data of an event that lists fields which are not kept any more.
    static final String MISSING = "cay_not_kept";

    /// Fields with more characters are stored here.
    private static final int LARGE = 2048;

    /// Bytes of a team. Checked about every megabyte, because all other changes wait for the check.
    private static final long MOST = 64L << 20;

    private static final int CHECKED_EVERY = 1 << 20;

    /// The time of a field's last use is not written more often: SQLite writes the whole field then.
    private static final Duration NOTED_EVERY = Duration.ofHours(1);

    private EventPartStore() {}

    /// An event, with its large fields taken out.
    ///
    /// @param parts ids of these fields
    record Split(LifecycleEvent event, List<String> parts) {
        Split {
            parts = List.copyOf(parts);
        }
    }

    /// Stores the large fields of an event; doing so twice has no effect.
    static Split split(Handle handle, LifecycleEvent event) {
        var small = new HashMap<String, Object>();
        var parts = new ArrayList<String>();
        new TreeMap<>(event.data()).forEach((field, value) -> {
            String content = JsonColumn.write(value);
            if (content.length() > LARGE) {
                parts.add(insert(handle, event, field, content));
            } else {
                small.put(field, value);
            }
        });
        return new Split(event.withData(small), parts);
    }

    private static String insert(Handle handle, LifecycleEvent event, String field, String content) {
        String team = event.teamId().value();
        String id = field + ":" + digest(team, field, content);
        int size = content.getBytes(StandardCharsets.UTF_8).length;
        handle.execute(
                """
                INSERT INTO event_part (id, team_id, field, content, size, used_at) VALUES (?, ?, ?, ?, ?, ?)
                ON CONFLICT (id) DO UPDATE SET used_at = excluded.used_at WHERE event_part.used_at < ?
                """,
                id,
                team,
                field,
                content,
                size,
                event.at().toEpochMilli(),
                event.at().minus(NOTED_EVERY).toEpochMilli());
        if (ThreadLocalRandom.current().nextInt(CHECKED_EVERY) < size) {
            limit(handle, team, MOST);
        }
        return id;
    }

    private static String digest(String team, String field, String content) {
        try {
            var digest = MessageDigest.getInstance("SHA-256");
            digest.update((team + " " + field + " ").getBytes(StandardCharsets.UTF_8));
            return HexFormat.of().formatHex(digest.digest(content.getBytes(StandardCharsets.UTF_8)));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }

    /// Deletes fields until the others have at most so many bytes.
    static int limit(Handle handle, String team, long most) {
        return handle.execute("""
                DELETE FROM event_part WHERE id IN (
                    SELECT id FROM (SELECT id, SUM(size) OVER (ORDER BY used_at DESC, id) AS held
                        FROM event_part WHERE team_id = ?) newest
                    WHERE held > ?)
                """, team, most);
    }

    /// Deletes fields that no event has had since then. None, while a message that is older is still to be sent.
    public static int deleteOlder(Handle handle, Instant than, int most) {
        // The time of the last use is not exact.
        long before = than.minus(NOTED_EVERY).toEpochMilli();
        return handle.execute("""
                DELETE FROM event_part WHERE id IN (
                    SELECT id FROM event_part WHERE used_at < ? ORDER BY used_at LIMIT ?)
                AND NOT EXISTS (
                    SELECT 1 FROM webhook_message WHERE state = 'OPEN' AND created_at < ? AND parts IS NOT NULL)
                """, before, most, than.toEpochMilli());
    }

    static @Nullable String column(List<String> parts) {
        return parts.isEmpty() ? null : JsonColumn.write(parts);
    }

    public static List<String> parts(@Nullable String column) {
        return column == null ? List.of() : JsonColumn.readList(column);
    }

    /// The contents of fields by their ids; those that are not kept any more are left out.
    static Map<String, JsonNode> read(Handle handle, Collection<String> parts) {
        var found = new HashMap<String, JsonNode>();
        if (!parts.isEmpty()) {
            handle.createQuery("SELECT id, content FROM event_part WHERE id IN (<ids>)")
                    .bindList("ids", List.copyOf(parts))
                    .map((row, context) ->
                            Map.entry(row.getString("id"), Json.mapper().readTree(row.getString("content"))))
                    .forEach(entry -> found.put(entry.getKey(), entry.getValue()));
        }
        return found;
    }

    /// The data of an event with its large fields.
    static Map<String, Object> join(Map<String, Object> data, List<String> parts, Map<String, JsonNode> contents) {
        if (parts.isEmpty()) {
            return data;
        }
        var all = new LinkedHashMap<>(data);
        var missing = new ArrayList<String>();
        for (String part : parts) {
            var content = contents.get(part);
            if (content == null) {
                missing.add(field(part));
            } else {
                all.put(field(part), content);
            }
        }
        if (!missing.isEmpty()) {
            all.put(MISSING, missing);
        }
        return all;
    }

    /// The body of a message with its large fields. The same parts give the same bytes each time.
    public static String body(Handle handle, String body, List<String> parts) {
        if (parts.isEmpty()) {
            return body;
        }
        var contents = read(handle, parts);
        var json = (ObjectNode) Json.mapper().readTree(body);
        for (String name : List.of(EventJson.DATA, EventJson.OLDER_DATA)) {
            var data = (ObjectNode) json.get(name);
            var all = new LinkedHashMap<String, Object>();
            data.properties().forEach(entry -> all.put(entry.getKey(), entry.getValue()));
            json.set(name, Json.mapper().valueToTree(join(all, parts, contents)));
        }
        return Json.text(json);
    }

    private static String field(String part) {
        return part.substring(0, part.indexOf(':'));
    }
}
