package dev.cay.server;

import dev.cay.testing.NeedsRoot;

@NeedsRoot
final class PostgresDashboardApiTest extends DashboardApiContract {
    @Override
    TestServer begin() throws Exception {
        PostgresEngine.empty();
        return TestServer.on(PostgresEngine.open(), directory, new FakeNode(), new FakeClock(), "");
    }

    @Override
    TestServer next(TestServer before) throws Exception {
        return TestServer.on(PostgresEngine.open(), directory, before.node, before.clock, before.key);
    }
}
