package dev.cay.wire.rest;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.cay.wire.TemplateId;
import org.jspecify.annotations.Nullable;

/// The answer to create and connect, with all that a client needs to use the sandbox.
///
/// @param envdAccessToken    absent when the system ports are open
/// @param trafficAccessToken null unless traffic is private
@JsonInclude(JsonInclude.Include.NON_NULL)
public record SandboxInfo(
        TemplateId templateID,
        String sandboxID,
        String clientID,
        @Nullable String alias,
        String envdVersion,
        @Nullable String envdAccessToken,
        @JsonInclude(JsonInclude.Include.ALWAYS) @Nullable String trafficAccessToken,
        String domain) {}
