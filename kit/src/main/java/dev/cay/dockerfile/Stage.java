package dev.cay.dockerfile;

import java.util.List;
import org.jspecify.annotations.Nullable;

/// FROM and the instructions up to the next one.
///
/// @param index    counts from 0
/// @param name     in lower case; null without AS
/// @param base     an image, `scratch` or an earlier stage, with variables as they are written
/// @param platform with variables as they are written
public record Stage(
        Position at,
        int index,
        @Nullable String name,
        String base,
        @Nullable String platform,
        List<Instruction> instructions) {
    public Stage {
        instructions = List.copyOf(instructions);
    }

    /// The name, or the number of a stage without one.
    public String label() {
        return name == null ? Integer.toString(index) : name;
    }
}
