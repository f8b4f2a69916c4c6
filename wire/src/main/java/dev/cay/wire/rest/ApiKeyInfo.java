package dev.cay.wire.rest;

import com.fasterxml.jackson.annotation.JsonInclude;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/// An API key as its team sees it.
///
/// @param key       the key itself, told once when it is made; else null and left out
/// @param scope     what it may do: `all`, `read`, `sandboxes`, `templates` or `sandbox:ID`
/// @param expiresAt null for never
/// @param createdBy the person who made it or has it; null and left out if none did
public record ApiKeyInfo(
        String id,
        @JsonInclude(JsonInclude.Include.NON_NULL) @Nullable String key,
        String name,
        Mask mask,
        String scope,
        Instant createdAt,
        @Nullable Instant lastUsed,
        @Nullable Instant expiresAt,
        @JsonInclude(JsonInclude.Include.NON_NULL) @Nullable Person createdBy) {
    /// What is shown in the place of a key.
    public record Mask(String prefix, int valueLength, String maskedValuePrefix, String maskedValueSuffix) {}

    /// A person, by their id.
    ///
    /// @param email always null, as in E2B's cloud: not everybody who sees keys may see the members of the team
    public record Person(
            String id,

            @JsonInclude(JsonInclude.Include.ALWAYS) @Nullable
            String email) {}
}
