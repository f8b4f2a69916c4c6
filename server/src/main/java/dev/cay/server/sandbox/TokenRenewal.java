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
import java.util.List;
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
        var unchanged = new ArrayList<String>();
        var untold = new ArrayList<String>();
        for (var id : openedBy(key)) {
            switch (renew(id)) {
                case RENEWED -> renewed++;
                case ENDED -> {}
                case UNCHANGED -> unchanged.add(id.value());
                case UNTOLD -> untold.add(id.value());
            }
        }
        if (!unchanged.isEmpty() || !untold.isEmpty()) {
            throw new CayException(
                    ErrorKind.UNAVAILABLE,
                    "the key is revoked, and the tokens of %d sandboxes are renewed%s%s"
                            .formatted(
                                    renewed,
                                    those(unchanged, "could not be written and stay valid: kill these"),
                                    those(
                                            untold,
                                            "did not reach their machine: kill these, or restart Cay, which tries again")));
        }
        return renewed;
    }

    private static String those(List<String> ids, String what) {
        return ids.isEmpty() ? "" : "; those of %s %s".formatted(String.join(", ", ids), what);
    }

    private Set<SandboxId> openedBy(TeamKey key) {
        var ids = new LinkedHashSet<>(store.read(handle -> SandboxStore.createdWith(handle, key.family())));
        directory.list().stream()
                .filter(sandbox ->
                        sandbox.teamId().equals(key.team().id()) && key.scope().opens(sandbox.id()))
                .forEach(sandbox -> ids.add(sandbox.id()));
        return ids;
    }

    /// What came of the renewal of one sandbox's tokens.
    private enum Outcome {
        RENEWED,
        /// It ended meanwhile.
        ENDED,
        /// The record has the old tokens.
        UNCHANGED,
        /// The record has new tokens, and the node the old ones.
        UNTOLD
    }

    private Outcome renew(SandboxId id) {
        var outcome = Outcome.UNCHANGED;
        try {
            var fresh = records.change(id, STARTED, (old, _) -> Next.silent(old.withNewTokens()));
            if (fresh.isEmpty()) {
                return Outcome.ENDED;
            }
            outcome = Outcome.UNTOLD;
            tell(fresh.get());
            return Outcome.RENEWED;
        } catch (RuntimeException e) {
            log.atWarn()
                    .setCause(e)
                    .addKeyValue("sandbox", id)
                    .log("the access token of a sandbox could not be renewed");
            return outcome;
        }
    }

    private void tell(SandboxRecord sandbox) {
        if (sandbox.secure()) {
            fleet.node().renewToken(sandbox.id(), tokens.access(sandbox.id(), sandbox.tokenVersion()));
        }
    }
}
