package dev.cay.node.sandbox;

import dev.cay.http.Exchange;
import dev.cay.life.Undo;
import dev.cay.node.files.Account;
import dev.cay.node.files.FileTree;
import dev.cay.node.files.SandboxPath;
import dev.cay.node.mcp.GatewayControl;
import dev.cay.node.mcp.Gateways;
import dev.cay.node.mcp.McpGateway;
import dev.cay.node.mcp.ServerFetches;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.SandboxId;
import dev.cay.wire.SystemPorts;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// Opens the port of a sandbox's MCP gateway when the program inside first asks for it. The gateway itself continues to
/// exist while the sandbox is closed briefly. Thread-safe.
final class McpEndpoint implements AutoCloseable {
    /// Opens the port inside.
    interface Port {
        AutoCloseable open() throws IOException;
    }

    private final Gateways gateways;
    private final ServerFetches fetches;
    private final SandboxId id;
    private final Path known;
    private final FileTree files;
    private final Port port;
    private final GatewayControl control;
    private volatile @Nullable McpGateway gateway;
    private final Undo closing = new Undo();
    private boolean listens;
    private boolean closed;

    /// @param known directory of the sandbox's processes
    McpEndpoint(Gateways gateways, ServerFetches fetches, SandboxId id, Path known, FileTree files, Port port) {
        this.gateways = gateways;
        this.fetches = fetches;
        this.id = id;
        this.known = known;
        this.files = files;
        this.port = port;
        this.control = new GatewayControl(new Work());
    }

    /// Restores the gateway that the sandbox had.
    void recall() {
        gateways.recall(id, known).ifPresent(this::offer);
        gateways.wake(id);
    }

    /// Stops the gateway's servers, because the sandbox is closed for longer.
    void rest() {
        gateways.rest(id);
    }

    boolean isControl(Exchange exchange) {
        return control.handles(exchange);
    }

    /// Handles a request of the program inside. Requests from outside never come here.
    void control(Exchange exchange) throws Exception {
        control.handle(exchange);
    }

    private final class Work implements GatewayControl.Work {
        @Override
        public void begin(GatewayControl.Wanted wanted) {
            offer(gateways.start(id, known, wanted));
        }

        @Override
        public void requireToken(@Nullable String shown, @Nullable String given) {
            gateways.requireToken(known, shown, given);
        }

        @Override
        public void pull(List<String> keys) {
            fetches.pull(id, keys);
        }

        @Override
        public String progress(List<String> keys) {
            return fetches.progress(id, keys);
        }

        @Override
        public ObjectNode status() {
            var now = gateway;
            if (now == null) {
                throw new CayException(
                        ErrorKind.NOT_FOUND, "this sandbox has no MCP gateway; mcp-gateway --config begins one");
            }
            return now.status();
        }
    }

    private synchronized void offer(McpGateway offered) {
        if (closed) {
            throw new CayException(ErrorKind.UNAVAILABLE, "the sandbox is being stopped");
        }
        try {
            if (!listens) {
                closing.add(port.open());
                listens = true;
            }
        } catch (IOException e) {
            throw new CayException(
                    ErrorKind.FAILED,
                    "port %d of the sandbox is taken; end what listens there".formatted(SystemPorts.MCP),
                    e);
        }
        gateway = offered;
        offered.writeLogOn(this::writeLog);
    }

    private void writeLog(byte[] content) throws IOException {
        try (var file = files.write(new SandboxPath(McpGateway.LOG), Account.ROOT, Map.of())) {
            file.write(content);
        }
    }

    /// @return false, and nothing answered, where there is none
    boolean handle(Exchange exchange) throws Exception {
        var now = gateway;
        if (now != null) {
            now.handle(exchange);
        }
        return now != null;
    }

    @Override
    public synchronized void close() {
        closed = true;
        if (gateway != null) {
            gateway.writeLogOn(null);
        }
        closing.close();
    }
}
