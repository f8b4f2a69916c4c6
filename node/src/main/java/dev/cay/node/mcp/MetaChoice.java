package dev.cay.node.mcp;

import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.util.Locale;
import java.util.stream.Stream;

/// Whether clients of a gateway get tools that are about its servers.
public enum MetaChoice {
    OFF,

    /// Beside those of the servers.
    ON,

    /// Instead of those of the servers, which are then called through one of them.
    ONLY;

    /// As operators and users write it; refuses other words.
    ///
    /// @param name what they call the choice
    public static MetaChoice of(String name, String word) {
        return Stream.of(values())
                .filter(choice -> choice.word().equals(word))
                .findFirst()
                .orElseThrow(() ->
                        new CayException(ErrorKind.INVALID_ARGUMENT, "%s must be off, on or only".formatted(name)));
    }

    String word() {
        return name().toLowerCase(Locale.ROOT);
    }
}
