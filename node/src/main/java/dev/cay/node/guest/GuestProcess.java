package dev.cay.node.guest;

import org.jspecify.annotations.Nullable;

/// A process as its guest lists it.
///
/// @param exit null while it runs
public record GuestProcess(int pid, @Nullable Exit exit, String tag) {}
