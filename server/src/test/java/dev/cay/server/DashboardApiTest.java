package dev.cay.server;

import dev.cay.testing.Fast;

@Fast
final class DashboardApiTest extends DashboardApiContract {}
