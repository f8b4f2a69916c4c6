package dev.cay.node.mcp.remote;

import dev.cay.node.mcp.catalog.LaunchPlan;
import dev.cay.node.mcp.catalog.ServerLaunch;
import dev.cay.node.mcp.server.PortLinks;
import dev.cay.node.mcp.server.ServerLink;
import dev.cay.web.Lines;
import dev.cay.web.UrlOrigin;
import dev.cay.web.WebLine;
import java.io.IOException;
import java.net.URI;
import java.util.Map;

/// Connects by HTTP to servers that listen inside their own sandbox. Whatever address such a server gives, only its own
/// port is ever connected to.
public final class SidePortLinks implements PortLinks {
    @Override
    public ServerLink connect(String name, Inside inside, ServerLaunch.Port port, ServerLink.Listener listener) {
        var url = URI.create("http://localhost:%d%s".formatted(port.number(), port.path()));
        Lines lines = origin -> line(inside, port.number(), origin);
        return new RemoteHome(
                        name,
                        new LaunchPlan.Remote(url, port.transport(), Map.of()),
                        lines,
                        RemoteCredentials.NONE,
                        () -> true)
                .connect(listener);
    }

    private static WebLine line(PortLinks.Inside inside, int port, UrlOrigin origin) throws IOException {
        if (origin.port() != port || origin.secure()) {
            throw new IOException("it leads to another address than its own port");
        }
        var channel = inside.dial(port);
        channel.socket().setTcpNoDelay(true);
        return WebLine.over(channel.socket(), origin);
    }
}
