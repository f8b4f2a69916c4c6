package dev.cay.wire.rest;

import com.fasterxml.jackson.annotation.JsonInclude;
import org.jspecify.annotations.Nullable;

/// A volume that a sandbox has mounted.
///
/// @param readOnly absent where the sandbox may write; Cay's own
@JsonInclude(JsonInclude.Include.NON_NULL)
public record SandboxVolumeMount(
        String name, String path, @Nullable Boolean readOnly) {}
