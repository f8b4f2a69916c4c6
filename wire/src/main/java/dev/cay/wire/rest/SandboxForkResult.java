package dev.cay.wire.rest;

import com.fasterxml.jackson.annotation.JsonInclude;
import org.jspecify.annotations.Nullable;

/// What became of one of the copies that were asked for: it is there, or why not.
@JsonInclude(JsonInclude.Include.NON_NULL)
public record SandboxForkResult(
        @Nullable SandboxInfo sandbox, @Nullable Refusal error) {
    /// As an error of the whole request would be told.
    public record Refusal(int code, String message) {}

    public static SandboxForkResult of(SandboxInfo sandbox) {
        return new SandboxForkResult(sandbox, null);
    }

    public static SandboxForkResult failed(int code, String message) {
        return new SandboxForkResult(null, new Refusal(code, message));
    }
}
