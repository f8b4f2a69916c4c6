package dev.cay.wire.rest;

import dev.cay.wire.VolumeId;

/// A volume with what opens its files.
///
/// @param domain where its files are served: `api.` and this
/// @param sizeMB how much it may hold; Cay's own
public record VolumeAndToken(VolumeId volumeID, String name, String token, String domain, long sizeMB) {
    /// The token is a credential.
    @Override
    public String toString() {
        return "VolumeAndToken[volumeID=%s, name=%s]".formatted(volumeID, name);
    }
}
