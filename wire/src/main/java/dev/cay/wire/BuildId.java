package dev.cay.wire;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;

/// Names one build of a template: new content is a new build. A plain string in JSON.
public record BuildId(@JsonValue String value) {
    @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
    public BuildId {}

    @Override
    public String toString() {
        return value;
    }
}
