package dev.cay.server.event;

import dev.cay.wire.BuildId;
import dev.cay.wire.TeamId;
import dev.cay.wire.TemplateId;
import java.time.Instant;
import java.util.Map;

/// Something that happened to a sandbox.
///
/// @param data what the kind of event adds, as JSON values
public record LifecycleEvent(
        String id,
        Type type,
        TeamId teamId,
        String sandboxId,
        TemplateId templateId,
        BuildId buildId,
        String executionId,
        Map<String, Object> data,
        Instant at) {
    public LifecycleEvent {
        data = Map.copyOf(data);
    }

    /// A copy with another id.
    public LifecycleEvent withId(String other) {
        return new LifecycleEvent(other, type, teamId, sandboxId, templateId, buildId, executionId, data, at);
    }

    LifecycleEvent withData(Map<String, Object> other) {
        return new LifecycleEvent(id, type, teamId, sandboxId, templateId, buildId, executionId, other, at);
    }

    /// The types of events, with their names in the API.
    public enum Type {
        CREATED("created", "create"),
        UPDATED("updated", "update"),
        PAUSED("paused", "pause"),
        RESUMED("resumed", "resume"),
        KILLED("killed", "kill"),
        CHECKPOINTED("checkpointed", "checkpoint");

        private final String word;
        private final String label;

        Type(String word, String label) {
            this.word = word;
            this.label = label;
        }

        public String text() {
            return "sandbox.lifecycle." + word;
        }

        /// The type's name in the first version of the API.
        String label() {
            return label;
        }
    }
}
