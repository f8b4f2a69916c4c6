package dev.cay.server.template;

import org.jspecify.annotations.Nullable;

/// Why a build failed.
///
/// @param step `base`, the number of a step, or `finalize`; null when it was not the fault of any
public record BuildFailure(@Nullable String step, String message) {}
