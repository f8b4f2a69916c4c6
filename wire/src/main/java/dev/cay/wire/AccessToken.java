package dev.cay.wire;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import org.jspecify.annotations.Nullable;

/// The token that opens ports of a sandbox. A plain string in JSON, and never part of a log line.
public record AccessToken(@JsonValue String value) {
    @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
    public AccessToken {}

    /// Whether this is the token; null never is. The time of the comparison reveals nothing about the token.
    public boolean matches(@Nullable String given) {
        return given != null
                && MessageDigest.isEqual(
                        value.getBytes(StandardCharsets.UTF_8), given.getBytes(StandardCharsets.UTF_8));
    }

    @Override
    public String toString() {
        return "AccessToken[hidden]";
    }
}
