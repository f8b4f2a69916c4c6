package dev.cay.node.mcp;

import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.util.Locale;
import java.util.stream.Stream;

/// Whether clients of a gateway get tools that are about its servers.
public enum MetaChoice {
    OFF,

    /// In addition to the servers' tools.
    ON,

    /// In place of the servers' tools, which are then called through one of them.
    ONLY;

    /// Parses the word; refuses others.
    ///
    /// @param name the name of the setting, for messages
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
