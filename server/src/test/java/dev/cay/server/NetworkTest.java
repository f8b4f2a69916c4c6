package dev.cay.server;

import dev.cay.testing.Fast;

@Fast
final class NetworkTest extends NetworkContract {}
