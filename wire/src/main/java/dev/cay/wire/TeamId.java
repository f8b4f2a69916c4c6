package dev.cay.wire;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;

/// Names one team, whatever it is called. A plain string in JSON.
public record TeamId(@JsonValue String value) {
    @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
    public TeamId {}

    @Override
    public String toString() {
        return value;
    }
}
