package dev.cay.server.sandbox;

import dev.cay.server.access.SandboxTokens;
import dev.cay.wire.AccessToken;
import dev.cay.wire.SandboxId;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.Predicate;

/// Every sandbox that lives, in memory: what the edge looks at for each request, and what lists are made of.
///
/// Follows the database, always after a commit. A sandbox leaves it before its connections are cut.
public final class SandboxDirectory {
    private final SandboxTokens tokens;
    private final Map<SandboxId, SandboxRecord> sandboxes = new ConcurrentHashMap<>();
    private final Map<AccessToken, SandboxId> byToken = new ConcurrentHashMap<>();
    private final AtomicLong changes = new AtomicLong();
    private volatile Consumer<SandboxRecord> watcher = _ -> {};

    public SandboxDirectory(SandboxTokens tokens) {
        this.tokens = tokens;
    }

    /// Hears of every change of a sandbox that lives, after it can be found here. Must not block.
    public void onUpdate(Consumer<SandboxRecord> action) {
        watcher = action;
    }

    public Optional<SandboxRecord> find(SandboxId id) {
        return Optional.ofNullable(sandboxes.get(id));
    }

    /// The secured sandbox that this access token opens.
    public Optional<SandboxRecord> findByToken(String token) {
        return Optional.ofNullable(byToken.get(new AccessToken(token))).flatMap(this::find);
    }

    /// The secured sandbox whose access token fits; asks for one after the other.
    public Optional<SandboxRecord> findByToken(Predicate<AccessToken> fits) {
        return byToken.entrySet().stream()
                .filter(entry -> fits.test(entry.getKey()))
                .findFirst()
                .flatMap(entry -> find(entry.getValue()));
    }

    public List<SandboxRecord> list() {
        return List.copyOf(sandboxes.values());
    }

    /// How many there are in each state, by its name in small letters.
    public Map<String, Long> byState() {
        var counts = new TreeMap<String, Long>();
        for (var state : SandboxState.ALIVE) {
            counts.put(state.name().toLowerCase(Locale.ROOT), 0L);
        }
        sandboxes
                .values()
                .forEach(sandbox -> counts.merge(sandbox.state().name().toLowerCase(Locale.ROOT), 1L, Long::sum));
        return counts;
    }

    public int running() {
        return (int) sandboxes.values().stream()
                .filter(sandbox -> sandbox.state() == SandboxState.RUNNING)
                .count();
    }

    /// Another number whenever something changed: so that an idle house need not be looked through.
    public long changes() {
        return changes.get();
    }

    void add(SandboxRecord sandbox) {
        changes.incrementAndGet();
        sandboxes.put(sandbox.id(), sandbox);
        addToken(sandbox);
    }

    /// Commits may be told of in another order than they happened in: the newer copy stays, and what left stays away.
    void update(SandboxRecord fresh) {
        changes.incrementAndGet();
        var before = sandboxes.get(fresh.id());
        var current =
                sandboxes.computeIfPresent(fresh.id(), (id, old) -> old.version() < fresh.version() ? fresh : old);
        if (current != null) {
            if (before != null && before.tokenVersion() < current.tokenVersion()) {
                byToken.remove(token(before));
                addToken(current);
            }
            watcher.accept(current);
        }
    }

    private void addToken(SandboxRecord sandbox) {
        if (sandbox.secure()) {
            byToken.put(token(sandbox), sandbox.id());
        }
    }

    private AccessToken token(SandboxRecord sandbox) {
        return tokens.access(sandbox.id(), sandbox.tokenVersion());
    }

    void remove(SandboxId id) {
        changes.incrementAndGet();
        var gone = sandboxes.remove(id);
        if (gone != null) {
            byToken.remove(token(gone));
        }
    }
}
