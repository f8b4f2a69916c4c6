package dev.cay.server;

import dev.cay.testing.NeedsRoot;
import org.junit.jupiter.api.extension.RegisterExtension;

@NeedsRoot
final class PostgresSecretTest extends SecretContract {
    @RegisterExtension
    static final PostgresEngine POSTGRES = new PostgresEngine();

    @Override
    TestServer begin() throws Exception {
        POSTGRES.empty();
        return TestServer.on(POSTGRES.open(), directory, new FakeNode(), new FakeClock(), "");
    }

    @Override
    TestServer next(TestServer before) throws Exception {
        return TestServer.on(POSTGRES.open(), directory, before.node, before.clock, before.key);
    }
}
