package dev.cay.node.mcp.server;

import dev.cay.node.mcp.side.SideSandboxHost;
import dev.cay.node.process.Workers;
import java.time.Duration;
import java.util.function.LongSupplier;

/// What all homes of servers share that run in sandboxes.
///
/// @param ports connects to servers that listen at a port
/// @param idle  how long a side sandbox is kept that nobody is connected to
/// @param nanos the time, as {@link System#nanoTime} tells it
record HomeEquipment(
        SideSandboxHost sides,
        PortLinks ports,
        Workers workers,
        ServerPreparation preparation,
        Duration idle,
        LongSupplier nanos) {}
