package dev.cay.server;

import dev.cay.life.SteadyClock;
import dev.cay.metrics.Meters;
import dev.cay.server.access.SandboxTokens;
import dev.cay.server.event.EventCounts;
import dev.cay.server.store.Store;
import java.security.SecureRandom;

/// What all parts of the server stand on.
///
/// @param events gets each event of a sandbox after it was written
record ServerBase(
        Store store, SandboxTokens tokens, SteadyClock clock, SecureRandom random, EventCounts events, Meters meters) {}
