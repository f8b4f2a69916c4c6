package dev.cay.server;

import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.SandboxId;
import dev.cay.wire.node.NodeAuthorizations;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;

/// One server of each sandbox, which can be authorized with the state `good`.
final class FakeAuthorizations implements NodeAuthorizations {
    static final String URL = "https://login.example.org/authorize?state=good";

    /// Whose server is authorized.
    volatile SandboxId sandbox = new SandboxId("abc");

    /// What browsers brought.
    final BlockingQueue<Redirect> redirects = new LinkedBlockingQueue<>();

    @Override
    public ServerState authorize(SandboxId sandbox, String server) {
        if (!server.equals("wiki")) {
            throw new CayException(ErrorKind.NOT_FOUND, server + " is no server of this gateway");
        }
        return new ServerState(server, "needs authorization", null, URL);
    }

    @Override
    public Authorized complete(Redirect redirect) {
        redirects.add(redirect);
        if (!"good".equals(redirect.state())) {
            throw new CayException(ErrorKind.NOT_FOUND, "this link is <not> good any more");
        }
        return new Authorized(sandbox, "wiki");
    }

    @Override
    public Optional<Map<String, Object>> clientMetadata() {
        return Optional.of(Map.of("client_name", "Cay"));
    }
}
