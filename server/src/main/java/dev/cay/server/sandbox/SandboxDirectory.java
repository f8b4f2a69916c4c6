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

/// All living sandboxes in memory: the edge looks them up for each request, and lists are made of them.
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

    /// Adds a listener for changes of living sandboxes, called after the change is visible here. It must not block.
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

    /// The secured sandbox that has this access token; tries one sandbox after the other.
    public Optional<SandboxRecord> findByToken(Predicate<AccessToken> fits) {
        return byToken.entrySet().stream()
                .filter(entry -> fits.test(entry.getKey()))
                .findFirst()
                .flatMap(entry -> find(entry.getValue()));
    }

    public List<SandboxRecord> list() {
        return List.copyOf(sandboxes.values());
    }

    /// The number of sandboxes in each state, by the state's name in lower case.
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

    /// A number that changes with every change, so that callers can skip work while nothing happens.
    public long changes() {
        return changes.get();
    }

    void add(SandboxRecord sandbox) {
        changes.incrementAndGet();
        sandboxes.put(sandbox.id(), sandbox);
        addToken(sandbox);
    }

    /// Adds a changed record. Commits may be reported out of order: the newer copy stays, and a sandbox that has left
    /// stays away.
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
