package dev.cay.node.mcp;

import dev.cay.http.Json;
import dev.cay.node.mcp.catalog.LaunchPlan;
import dev.cay.node.mcp.server.ServerHome;
import dev.cay.rpc.Message;
import dev.cay.rpc.RpcException;
import dev.cay.wire.CayException;
import java.time.Duration;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.databind.node.ObjectNode;

/// One server of a gateway: what all its clients know of it. Thread-safe.
final class GatewayServer implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(GatewayServer.class);

    /// How long a list may take, of a server that runs.
    static final Duration LIST_LIMIT = Duration.ofSeconds(15);

    /// How it is doing.
    enum State {
        STARTING,
        READY,
        FAILED;

        String word() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    private final LaunchPlan plan;
    private final Supplier<ServerHome> homes;
    private final GatewayLog gatewayLog;
    private @Nullable ServerHome home;
    private CompletableFuture<@Nullable Void> turn = CompletableFuture.completedFuture(null);
    private volatile State state = State.STARTING;
    private volatile String reason = "";
    private volatile String instructions = "";
    private volatile int tools;

    /// @param homes makes a place for it, and another one after that was closed
    GatewayServer(LaunchPlan plan, Supplier<ServerHome> homes, GatewayLog gatewayLog) {
        this.plan = plan;
        this.homes = homes;
        this.gatewayLog = gatewayLog;
    }

    String key() {
        return plan.key();
    }

    /// What the names of its tools begin with; may be empty.
    String prefix() {
        return plan.tools().prefixed() ? plan.name() : "";
    }

    boolean offers(Listed kind, String name) {
        return kind != Listed.TOOLS || plan.tools().permits(name);
    }

    synchronized ServerHome home() {
        var now = home;
        if (now == null) {
            now = homes.get();
            home = now;
        }
        return now;
    }

    /// What it says of itself, as soon as it is known.
    String instructions() {
        return instructions;
    }

    /// Starts it once, so that clients find it ready, and whoever looks finds out what is wrong with it.
    void probe() {
        gatewayLog.say("%s: starting".formatted(key()));
        var deaf = new Upstream.Audience() {
            @Override
            public void request(Upstream from, Message request, Optional<Upstream.Call> about) {
                var none = new RpcException(RpcException.METHOD_NOT_FOUND, "nobody is there to answer");
                from.send(Message.error(request.id(), none));
            }

            @Override
            public void notification(Upstream from, Message notification, Optional<Upstream.Call> about) {}

            @Override
            public void over(Upstream from, String why) {}
        };
        try (var upstream = Upstream.open(this, Json.mapper().createObjectNode(), deaf)) {
            connected(upstream);
            if (upstream.can(Listed.TOOLS.capability())) {
                tools = new Listing(upstream, Listed.TOOLS).fetch().size();
            }
            gatewayLog.say("%s: ready, %d tools".formatted(key(), tools));
        } catch (CayException e) {
            failed(e.userMessage());
        } catch (RpcException e) {
            failed(String.valueOf(e.getMessage()));
        } catch (RuntimeException e) {
            log.atError().setCause(e).addKeyValue("server", key()).log("an MCP server could not be tried");
            failed("it could not be tried; the log of Cay says why");
        }
    }

    void connected(Upstream upstream) {
        state = State.READY;
        reason = "";
        instructions = upstream.instructions();
    }

    void failed(String why) {
        state = State.FAILED;
        reason = Texts.brief(why);
        gatewayLog.say("%s: %s".formatted(key(), reason));
    }

    State state() {
        return state;
    }

    /// For people and machines that look after it.
    ObjectNode health() {
        var health = Json.mapper().createObjectNode().put("state", state.word()).put("tools", tools);
        if (!reason.isEmpty()) {
            health.put("reason", reason);
        }
        return health;
    }

    /// Runs what is to be done with it when what was asked for before is done. Returns at once.
    synchronized void inTurn(Runnable work) {
        turn = turn.handleAsync(
                (_, _) -> {
                    try {
                        work.run();
                    } catch (RuntimeException e) {
                        log.atError().setCause(e).addKeyValue("server", key()).log("an MCP server is left as it is");
                    }
                    return null;
                },
                thread -> Thread.ofVirtual().name("mcp-turn-" + key()).start(thread));
    }

    /// @return false when it is to be closed instead
    boolean sleep() {
        var now = now();
        return now != null && now.sleep();
    }

    void wake() {
        var now = now();
        if (now != null) {
            now.wake();
        }
    }

    private synchronized @Nullable ServerHome now() {
        return home;
    }

    /// Ends it; whoever wants it again starts it again.
    @Override
    public void close() {
        ServerHome now;
        synchronized (this) {
            now = home;
            home = null;
        }
        if (now != null) {
            now.close();
        }
    }
}
