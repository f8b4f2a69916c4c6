package dev.cay.wire.node;

import dev.cay.wire.VolumeId;

/// A volume at a place in a sandbox.
///
/// @param path absolute, without `.` and `..`
public record VolumeMount(VolumeId volume, String path, boolean readOnly) {}
