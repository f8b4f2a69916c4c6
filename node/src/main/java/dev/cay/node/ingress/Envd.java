package dev.cay.node.ingress;

import dev.cay.http.Exchange;
import dev.cay.http.Handler;
import dev.cay.node.files.FileTree;
import dev.cay.node.process.ProcessTable;
import dev.cay.wire.SandboxId;
import dev.cay.wire.node.ResourceUse;
import java.time.InstantSource;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// Port 49983 of one sandbox: processes, files and health, as E2B's clients ask for them. Owns nothing that must be
/// closed.
public final class Envd implements Handler {
    /// What the routes know of their sandbox.
    ///
    /// @param environment    the variables its creator asked for
    /// @param accessToken    what requests must carry, or null when it is open to all
    /// @param defaultWorkdir where processes start, or null for the user's home
    public record Sandbox(
            SandboxId id,
            String templateId,
            Map<String, String> environment,
            @Nullable String accessToken,
            String defaultUser,
            @Nullable String defaultWorkdir,
            ProcessTable processes,
            FileTree files,
            Supplier<ResourceUse> use) {}

    public Envd(Sandbox sandbox, InstantSource clock) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void handle(Exchange exchange) throws Exception {
        throw new UnsupportedOperationException();
    }
}
