package dev.cay.node.sandbox;

import dev.cay.node.linux.HostThreads;
import dev.cay.node.process.ProcessSettings;
import dev.cay.node.process.Workers;
import dev.cay.node.watch.WatchHub;

/// Who does the work that running sandboxes ask for.
///
/// @param namespaces threads that enter other network namespaces
/// @param files      threads for files of sandboxes
/// @param watching   tells of changes in files of sandboxes
public record WorkParts(
        HostThreads namespaces,
        HostThreads files,
        WatchHub watching,
        Workers processes,
        ProcessSettings processSettings) {}
