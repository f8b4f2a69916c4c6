package dev.cay.node.mcp;

import dev.cay.http.Json;
import dev.cay.life.WaitLimits;
import dev.cay.mcp.protocol.RpcException;
import dev.cay.node.mcp.ServerStatus.State;
import dev.cay.node.mcp.catalog.LaunchPlan;
import dev.cay.node.mcp.catalog.ServerPlan;
import dev.cay.node.mcp.oauth.ServerAuthorization;
import dev.cay.node.mcp.server.ChosenHome;
import dev.cay.node.mcp.server.ServerLink;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiConsumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.databind.node.ObjectNode;

/// One server of a gateway, shared by all its clients. Thread-safe.
final class GatewayServer implements Upstream.Server, AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(GatewayServer.class);

    private static final Duration HELLO_LIMIT = Duration.ofSeconds(30);

    private final ServerPlan plan;
    private final Supplier<ChosenHome> homes;
    private final GatewayLog gatewayLog;
    private final WaitLimits limits = new WaitLimits();
    private final @Nullable ServerAuthorization authorization;
    private final ServerStatus status = new ServerStatus();
    private final Set<Upstream> opening = ConcurrentHashMap.newKeySet();
    private FirstLink first = new FirstLink(FirstLink.KEPT);
    private @Nullable ChosenHome home;
    private boolean retired;
    private boolean away;
    private CompletableFuture<@Nullable Void> turn = CompletableFuture.completedFuture(null);
    private volatile BiConsumer<GatewayServer, String> whenFailed = (_, _) -> {};
    private final OutcomeWait outcome = new OutcomeWait(() -> !isComing());

    /// @param homes         makes a place for it, and another one after that was closed
    /// @param authorization null for a server that needs none of a user's
    GatewayServer(
            ServerPlan plan,
            Supplier<ChosenHome> homes,
            GatewayLog gatewayLog,
            @Nullable ServerAuthorization authorization) {
        this.plan = plan;
        this.homes = homes;
        this.gatewayLog = gatewayLog;
        this.authorization = authorization;
    }

    @Override
    public String key() {
        return plan.key();
    }

    @Override
    public WaitLimits limits() {
        return limits;
    }

    /// The prefix of its tools' names; may be empty.
    String prefix() {
        return plan.tools().prefixed() ? plan.name() : "";
    }

    boolean offers(Listed kind, String name) {
        return kind != Listed.TOOLS || plan.tools().permits(name);
    }

    /// The command of a server from a repository may download files first.
    @Override
    public Duration helloLimit() {
        return CustomServers.isOne(key()) ? CustomServers.HELLO_LIMIT : HELLO_LIMIT;
    }

    /// The ways in which it can be started.
    List<LaunchPlan> ways() {
        return plan.ways();
    }

    /// Sentences about what its user gave and has no effect.
    List<String> warnings() {
        return plan.warnings();
    }

    @Override
    public ServerLink link(ServerLink.Listener listener) {
        return home().connect(listener);
    }

    @Override
    public Set<Upstream> opening() {
        return opening;
    }

    synchronized ChosenHome home() {
        if (retired) {
            throw new CayException(ErrorKind.UNAVAILABLE, "it was removed");
        }
        var now = home;
        if (away && mayBeRemote() && (now == null || now.isRemote())) {
            throw new CayException(ErrorKind.UNAVAILABLE, "it is not called while its sandbox is paused");
        }
        if (now == null) {
            now = homes.get();
            now.whenPreparing(outcome::prepares);
            home = now;
        }
        return now;
    }

    /// Its instructions; empty until it is connected for the first time.
    String instructions() {
        return status.instructions();
    }

    /// Starts it once, so that clients find it ready, and its state is known. The connection is kept for the first
    /// client.
    void probe() {
        boolean _ = status.tryNow();
        begin(first());
    }

    /// Starts it again, because something has changed that kept it from working.
    void probeAgain() {
        FirstLink next;
        synchronized (this) {
            if (retired) {
                return;
            }
            first.close();
            next = new FirstLink(FirstLink.KEPT);
            first = next;
            status.restarts();
        }
        begin(next);
    }

    /// Like {@link #probe}, for a server that was neither started nor used since the daemon started.
    void probeIfUnknown() {
        if (status.tryNow()) {
            begin(first());
        }
    }

    private void begin(FirstLink link) {
        gatewayLog.say("%s: starting".formatted(key()));
        link.begin();
        Thread.ofVirtual().name("mcp-probe-" + key()).start(() -> tryOut(link));
    }

    synchronized FirstLink first() {
        return first;
    }

    /// Whether it failed, or its tools were counted.
    boolean isSettled() {
        return switch (state()) {
            case FAILED, NEEDS_AUTHORIZATION -> true;
            case STARTING, READY -> status.isCounted();
        };
    }

    /// Whether it starts and needs no download, so that its outcome is known soon.
    boolean isComing() {
        return !isSettled() && !isPreparing();
    }

    /// Completes when {@link #isComing} is false. A caller that stops waiting cancels it.
    CompletableFuture<@Nullable Void> arrival() {
        return outcome.begin();
    }

    private void tryOut(FirstLink link) {
        try {
            var upstream = link.open(this);
            connected(upstream);
            countTools(upstream, link);
            link.keep();
        } catch (CayException e) {
            unusable(link, e.userMessage());
        } catch (RpcException e) {
            unusable(link, String.valueOf(e.getMessage()));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (RuntimeException e) {
            log.atError().setCause(e).addKeyValue("server", key()).log("an MCP server could not be tried");
            unusable(link, "it could not be tried; the log of Cay says why");
        }
    }

    /// A client that got the connection meanwhile may end it at any time, and finds out itself what the server has.
    private void countTools(Upstream upstream, FirstLink link) {
        try {
            counted(
                    upstream.can(Listed.TOOLS.capability())
                            ? new ServerListing(upstream, Listed.TOOLS).fetch().size()
                            : 0);
            gatewayLog.say("%s: ready, %d tools".formatted(key(), status.tools()));
        } catch (RpcException e) {
            if (!link.isTaken()) {
                throw e;
            }
        }
    }

    /// A failure of a start that {@link #probeAgain} has replaced says nothing about the server now.
    private void unusable(FirstLink link, String why) {
        link.close();
        if (link == first()) {
            failed(why);
        }
    }

    /// Connects a client: by the connection it was tried with if that is still there and does for this client, else by
    /// one of its own.
    ///
    /// @param hello parameters of `initialize` as the client sent them
    Upstream connect(ObjectNode hello, Upstream.Audience audience) {
        var kept = first().take(hello, audience);
        return kept.isPresent() ? kept.get() : Upstream.open(this, hello, audience);
    }

    /// Ends the connection of the first try, if no client took it.
    ///
    /// @return false if a client did, or it has ended
    boolean makeRoom() {
        return first().giveUp();
    }

    void connected(Upstream upstream) {
        status.connected(upstream.instructions());
    }

    @Override
    public void failed(String why) {
        String brief = Texts.brief(why);
        status.failed(brief);
        gatewayLog.say("%s: %s".formatted(key(), brief));
        whenFailed.accept(this, brief);
        outcome.changed();
    }

    /// The number of failures after a success, or after the start: a lasting failure counts once.
    int failures() {
        return status.failures();
    }

    /// @param listener gets each failure with its reason; must not block
    void whenFailed(BiConsumer<GatewayServer, String> listener) {
        whenFailed = listener;
    }

    /// A client listed its tools.
    void counted(int count) {
        status.counted(count);
        outcome.changed();
    }

    /// A server that failed and for which something is fetched again is STARTING.
    State state() {
        var now = status.state();
        if (now == State.FAILED && authorization != null && authorization.isNeeded()) {
            return State.NEEDS_AUTHORIZATION;
        }
        return now == State.FAILED && isPreparing() ? State.STARTING : now;
    }

    /// Why it failed; empty if it did not.
    String reason() {
        return switch (state()) {
            case FAILED, NEEDS_AUTHORIZATION -> status.reason();
            case STARTING, READY -> "";
        };
    }

    /// The URL that a user opens in a browser to authorize this server, or to grant more rights; empty if neither is
    /// needed.
    Optional<String> authorize() {
        return authorization == null ? Optional.empty() : authorization.url();
    }

    /// @param action run when a user has done so; must not block
    void onAuthorized(Runnable action) {
        if (authorization != null) {
            authorization.onGranted(action);
        }
    }

    /// Whether something is being fetched or installed before it can start, which may take minutes.
    boolean isPreparing() {
        var now = now();
        return now != null && (now.isPreparing() || (CustomServers.isOne(key()) && status.state() == State.STARTING));
    }

    private boolean mayBeRemote() {
        return plan.ways().stream().anyMatch(way -> way.start() instanceof LaunchPlan.Remote);
    }

    /// Whether it runs elsewhere.
    boolean isRemote() {
        var now = now();
        return now != null && now.isRemote();
    }

    /// Its state, for people and programs.
    ObjectNode health() {
        var health =
                Json.mapper().createObjectNode().put("state", state().word()).put("tools", status.tools());
        tell(health, "reason", reason());
        var now = now();
        if (now != null) {
            WayReport.add(health, now.ways());
            tell(health, "progress", now.progress());
            tell(health, "warning", now.warning());
        }
        authorize().ifPresent(url -> health.put("authorize", url));
        return health;
    }

    private static void tell(ObjectNode health, String name, String text) {
        if (!text.isEmpty()) {
            health.put(name, text);
        }
    }

    /// Ends it for good.
    void retire() {
        synchronized (this) {
            retired = true;
        }
        close();
    }

    /// While its sandbox is paused, no new connection to a remote server is made.
    synchronized void setAway(boolean now) {
        away = now;
    }

    /// Queues work after earlier work for this server. Returns at once.
    synchronized void inTurn(Runnable work) {
        turn = turn.handleAsync(
                (_, _) -> {
                    try {
                        work.run();
                    } catch (RuntimeException e) {
                        log.atError().setCause(e).addKeyValue("server", key()).log("an action on an MCP server failed");
                    }
                    return null;
                },
                thread -> Thread.ofVirtual().name("mcp-turn-" + key()).start(thread));
    }

    /// Suspends it with its paused sandbox, and ends it if that is not possible. Does nothing when the sandbox was
    /// resumed meanwhile.
    ///
    /// @return false if it has ended
    boolean sleep() {
        ChosenHome now;
        synchronized (this) {
            if (!away) {
                return true;
            }
            now = home;
        }
        // Later clients start the server themselves.
        first().close();
        if (now == null || now.sleep()) {
            return true;
        }
        synchronized (this) {
            if (home == now) {
                home = null;
            }
        }
        now.close();
        return false;
    }

    void wake() {
        var now = now();
        if (now != null) {
            now.wake();
        }
    }

    private synchronized @Nullable ChosenHome now() {
        return home;
    }

    /// Ends it; the next request starts it again.
    @Override
    public void close() {
        first().close();
        var now = leave();
        if (now != null) {
            now.close();
        }
        closeOpening();
    }

    /// A client that waits for the server's first answer gets an error at once, and not when its time is over.
    private void closeOpening() {
        opening.forEach(Upstream::close);
    }

    /// The same without another message to it, for a server that its sandbox may not reach any more.
    void cut() {
        var now = leave();
        if (now != null) {
            now.cut();
        }
        closeOpening();
        first().close();
    }

    private @Nullable ChosenHome leave() {
        synchronized (this) {
            var now = home;
            home = null;
            return now;
        }
    }
}
