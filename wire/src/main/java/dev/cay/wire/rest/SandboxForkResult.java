package dev.cay.wire.rest;

import com.fasterxml.jackson.annotation.JsonInclude;
import org.jspecify.annotations.Nullable;

/// The result of one requested copy: the sandbox, or an error.
@JsonInclude(JsonInclude.Include.NON_NULL)
public record SandboxForkResult(
        @Nullable SandboxInfo sandbox, @Nullable Refusal error) {
    /// The error in the form of a failed request.
    public record Refusal(int code, String message) {}

    public static SandboxForkResult of(SandboxInfo sandbox) {
        return new SandboxForkResult(sandbox, null);
    }

    public static SandboxForkResult failed(int code, String message) {
        return new SandboxForkResult(null, new Refusal(code, message));
    }
}
