package dev.cay.mcp;

import dev.cay.mcp.protocol.face.StdioFace;
import dev.cay.sdk.Cay;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;

/// Offers sandboxes as tools until its client goes, and ends them then.
public final class SandboxServer {
    private final ServerSettings settings;

    public SandboxServer(ServerSettings settings) {
        this.settings = settings;
    }

    /// Serves the client that started this process. Returns when the client closes its end; a signal also ends the
    /// sandboxes.
    public void serve(InputStream in, OutputStream out) throws IOException {
        try (var cay = Cay.with(settings.sandboxes());
                var sandboxes = new OwnSandboxes(cay, settings.template(), settings.most())) {
            var tools = new ToolServer(sandboxes, settings.lifetimes(), sandboxes::close);
            Runtime.getRuntime().addShutdownHook(new Thread(tools::close, "clean-up"));
            new StdioFace(in, out).serve(tools);
        }
    }
}
