package dev.cay.server;

import dev.cay.testing.NeedsRoot;

@NeedsRoot
final class PostgresNetworkTest extends NetworkContract {
    @Override
    TestServer begin() throws Exception {
        return PostgresEngine.begin(directory);
    }

    @Override
    TestServer next(TestServer before) throws Exception {
        return PostgresEngine.again(directory, before);
    }
}
