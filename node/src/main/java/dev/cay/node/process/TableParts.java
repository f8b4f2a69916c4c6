package dev.cay.node.process;

import java.util.function.LongSupplier;

/// What all processes of one table use.
///
/// @param terminals   those that an older guest shares with the sandbox
/// @param memoryKills how many processes of the sandbox the kernel has killed for lack of memory; asked on threads
///                    where files may be read
record TableParts(
        GuestRequests guest,
        Workers workers,
        ProcessSettings settings,
        TableState state,
        SharedTerminals terminals,
        LongSupplier memoryKills) {}
