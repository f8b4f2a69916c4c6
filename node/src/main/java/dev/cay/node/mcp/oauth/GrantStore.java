package dev.cay.node.mcp.oauth;

import dev.cay.node.mcp.seal.Seal;
import dev.cay.wire.SandboxId;
import java.nio.file.Path;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/// The grants of all sandboxes on disk, in one sealed file for each sandbox. Thread-safe.
///
/// The file is not saved and copied with the sandbox: a refresh token works for one holder only, and an authorization
/// server that sees it twice revokes all tokens. So a fork has no grants, and a rollback restores no old ones.
final class GrantStore {
    private static final String OWNER = "sandbox";
    private static final String GRANTS = "grants";

    private final Seal seal;
    private final Function<SandboxId, Path> files;

    /// @param files where the file of a sandbox is; it goes with the sandbox
    GrantStore(Seal seal, Function<SandboxId, Path> files) {
        this.seal = seal;
        this.files = files;
    }

    synchronized Optional<Grant> read(SandboxId sandbox, String server) {
        var tree = file(sandbox).read();
        var grant = tree.path(GRANTS).path(server);
        // A file that was copied from another sandbox is ignored.
        boolean own = tree.path(OWNER).asString("").equals(sandbox.value());
        return own && grant.isObject() ? Optional.of(Grant.of(grant)) : Optional.empty();
    }

    /// @param grant null for none
    synchronized void write(SandboxId sandbox, String server, @Nullable Grant grant) {
        var file = file(sandbox);
        var tree = file.read();
        if (!tree.path(OWNER).asString("").equals(sandbox.value())) {
            tree.removeAll();
            tree.put(OWNER, sandbox.value());
        }
        var grants = tree.withObject(GRANTS);
        if (grant == null) {
            grants.remove(server);
        } else {
            grants.set(server, grant.tree());
        }
        file.write(grants.isEmpty() ? tree.removeAll() : tree);
    }

    private SealedTree file(SandboxId sandbox) {
        return new SealedTree(seal, files.apply(sandbox));
    }
}
