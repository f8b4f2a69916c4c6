package dev.cay.wire;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;

/// Names one template, whatever its aliases and builds are. A plain string in JSON.
public record TemplateId(@JsonValue String value) {
    @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
    public TemplateId {}

    @Override
    public String toString() {
        return value;
    }
}
