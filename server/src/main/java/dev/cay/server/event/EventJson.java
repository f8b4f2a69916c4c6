package dev.cay.server.event;

import java.util.LinkedHashMap;
import java.util.Map;

/// An event as clients and receivers of webhooks get it.
final class EventJson {
    static final String DATA = "eventData";
    static final String OLDER_DATA = "event_data";

    private EventJson() {}

    /// An event with both spellings of field names, because older and newer documents of the API differ.
    static Map<String, Object> of(LifecycleEvent event) {
        var json = new LinkedHashMap<String, Object>();
        json.put("version", "v2");
        json.put("id", event.id());
        json.put("type", event.type().text());
        json.put("timestamp", event.at());
        both(json, DATA, OLDER_DATA, event.data());
        both(json, "sandboxId", "sandbox_id", event.sandboxId());
        both(json, "sandboxTeamId", "sandbox_team_id", event.teamId());
        both(json, "sandboxTemplateId", "sandbox_template_id", event.templateId());
        both(json, "sandboxBuildId", "sandbox_build_id", event.buildId());
        both(json, "sandboxExecutionId", "sandbox_execution_id", event.executionId());
        both(json, "eventCategory", "event_category", "lifecycle");
        both(json, "eventLabel", "event_label", event.type().label());
        return json;
    }

    private static void both(Map<String, Object> json, String camel, String snake, Object value) {
        json.put(camel, value);
        json.put(snake, value);
    }
}
