package dev.cay.server.sandbox;

import dev.cay.server.access.SandboxTokens;
import dev.cay.server.access.TeamKey;
import dev.cay.server.fleet.Fleet;
import dev.cay.server.sandbox.RecordChange.Next;
import dev.cay.server.store.Store;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.SandboxId;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Renews the tokens of sandboxes, so that holders of the old ones are locked out. Thread-safe.
///
/// The record changes first, then the node. A crash between the two is repaired at the next start.
public final class TokenRenewal {
    private static final Logger log = LoggerFactory.getLogger(TokenRenewal.class);
    private static final Set<SandboxState> STARTED =
            Set.of(SandboxState.RUNNING, SandboxState.PAUSING, SandboxState.PAUSED, SandboxState.RESUMING);

    private final Store store;
    private final SandboxRecords records;
    private final SandboxDirectory directory;
    private final Fleet fleet;
    private final SandboxTokens tokens;

    public TokenRenewal(
            Store store, SandboxRecords records, SandboxDirectory directory, Fleet fleet, SandboxTokens tokens) {
        this.store = store;
        this.records = records;
        this.directory = directory;
        this.fleet = fleet;
        this.tokens = tokens;
    }

    /// Tells the node what an earlier daemon may not have told it.
    public void settle() {
        for (var sandbox : directory.list()) {
            if (sandbox.tokenVersion() > 0) {
                try {
                    tell(sandbox);
                } catch (RuntimeException e) {
                    log.atWarn()
                            .setCause(e)
                            .addKeyValue("sandbox", sandbox.id())
                            .log("the access token of a sandbox could not be renewed");
                }
            }
        }
    }

    /// Renews the tokens of all sandboxes that a key could open, whichever key created them: every holder of the key
    /// may have read their tokens.
    ///
    /// @return their number
    public int ofKey(TeamKey key) {
        int renewed = 0;
        var failed = new ArrayList<String>();
        for (var id : openedBy(key)) {
            try {
                renewed += renew(id) ? 1 : 0;
            } catch (RuntimeException e) {
                log.atWarn()
                        .setCause(e)
                        .addKeyValue("sandbox", id)
                        .log("the access token of a sandbox could not be renewed");
                failed.add(id.value());
            }
        }
        if (!failed.isEmpty()) {
            throw new CayException(
                    ErrorKind.UNAVAILABLE,
                    "the key is revoked, and the tokens of %d sandboxes are renewed; those of %s could not be: kill these, or restart Cay, which tries again"
                            .formatted(renewed, String.join(", ", failed)));
        }
        return renewed;
    }

    private Set<SandboxId> openedBy(TeamKey key) {
        var ids = new LinkedHashSet<>(store.read(handle -> SandboxStore.createdWith(handle, key.family())));
        directory.list().stream()
                .filter(sandbox ->
                        sandbox.teamId().equals(key.team().id()) && key.scope().opens(sandbox.id()))
                .forEach(sandbox -> ids.add(sandbox.id()));
        return ids;
    }

    /// @return false if it ended meanwhile
    private boolean renew(SandboxId id) {
        var fresh = records.change(id, STARTED, (old, _) -> Next.silent(old.withNewTokens()));
        fresh.ifPresent(this::tell);
        return fresh.isPresent();
    }

    private void tell(SandboxRecord sandbox) {
        if (sandbox.secure()) {
            fleet.node().renewToken(sandbox.id(), tokens.access(sandbox.id(), sandbox.tokenVersion()));
        }
    }
}
