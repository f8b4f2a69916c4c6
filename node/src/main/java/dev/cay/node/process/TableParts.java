package dev.cay.node.process;

import java.util.function.LongSupplier;

/// The parts that all processes of one table use.
///
/// @param terminals   reads terminals that an older guest shares with the sandbox
/// @param memoryKills how many processes of the sandbox the kernel has killed for lack of memory; called on threads
///                    that may read files
record TableParts(
        GuestRequests guest,
        Workers workers,
        ProcessSettings settings,
        TableState state,
        SharedTerminals terminals,
        LongSupplier memoryKills) {}
