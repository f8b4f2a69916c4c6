package dev.cay.wire.rest;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.cay.wire.VolumeId;
import org.jspecify.annotations.Nullable;

/// A volume in a list.
///
/// @param sizeMB how much it may hold; Cay's own, as the next
/// @param usedMB how much it holds; absent where that is not known
@JsonInclude(JsonInclude.Include.NON_NULL)
public record VolumeInfo(
        VolumeId volumeID,
        String name,
        long sizeMB,
        @Nullable Long usedMB) {}
