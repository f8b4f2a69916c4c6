package dev.cay.dockerfile;

import org.jspecify.annotations.Nullable;

/// A `--mount` of RUN: a directory or file that exists only while this command runs and is not in its result.
public sealed interface Mount {
    String target();

    /// @param from a stage, a stage's number or an image; null for the build context
    record Bind(String target, String source, @Nullable String from, boolean writable) implements Mount {}

    /// @param id      two mounts with the same id share their files
    /// @param from    what the cache holds at first; null for an empty directory
    record Cache(
            String target,
            String id,
            Sharing sharing,
            @Nullable String from,
            String source,
            boolean readOnly,
            Owner owner)
            implements Mount {}

    /// How concurrent builds use one cache: share it, have one each, or wait.
    enum Sharing {
        SHARED,
        PRIVATE,
        LOCKED
    }

    /// @param target   empty when the secret is only in a variable
    /// @param variable the environment variable that has the secret; null for none
    record Secret(String id, String target, @Nullable String variable, boolean required, Owner owner)
            implements Mount {}

    /// @param sizeBytes 0 for no limit of its own
    record Tmpfs(String target, long sizeBytes) implements Mount {}

    /// @param mode permission bits
    record Owner(int uid, int gid, int mode) {}
}
