package dev.cay.node.sandbox;

import dev.cay.node.linux.HostThreads;
import dev.cay.node.process.ProcessSettings;
import dev.cay.node.process.Workers;
import dev.cay.node.watch.WatchHub;

/// The threads that work for running sandboxes.
///
/// @param namespaces threads that enter other network namespaces
/// @param files      threads for files of sandboxes
/// @param watching   reports changes in files of sandboxes
public record WorkParts(
        HostThreads namespaces,
        HostThreads files,
        WatchHub watching,
        Workers processes,
        ProcessSettings processSettings) {}
