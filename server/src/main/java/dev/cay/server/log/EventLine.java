package dev.cay.server.log;

import dev.cay.server.event.LifecycleEvent;
import dev.cay.wire.node.LogLine;
import java.util.Map;
import java.util.TreeMap;

/// An event of a sandbox as a line of its log.
final class EventLine {
    private EventLine() {}

    /// Facts of the event that are plain words; what its owner attached is not for a log.
    static LogLine of(LifecycleEvent event) {
        var fields = new TreeMap<String, String>();
        event.data().forEach((name, value) -> {
            if (value instanceof String || value instanceof Number) {
                fields.put(name, value.toString());
            }
        });
        fields.put("event", event.type().text());
        boolean lost = fields.containsKey("kill_detail") || fields.containsKey("memory_loss");
        var level = lost ? LogLine.Level.WARN : LogLine.Level.INFO;
        return new LogLine(event.at(), level, "sandbox", message(event, fields), fields);
    }

    private static String message(LifecycleEvent event, Map<String, String> fields) {
        return switch (event.type()) {
            case CREATED -> "Sandbox created";
            case UPDATED -> fields.containsKey("set_timeout") ? "Sandbox timeout set" : "Sandbox network set";
            case PAUSED ->
                fields.containsKey("memory_loss")
                        ? "Sandbox paused without its memory: " + fields.get("memory_loss")
                        : "Sandbox paused";
            case RESUMED -> "Sandbox resumed";
            case CHECKPOINTED -> "Sandbox saved";
            case KILLED ->
                "Sandbox killed: " + fields.getOrDefault("kill_detail", fields.getOrDefault("kill_reason", "unknown"));
        };
    }
}
