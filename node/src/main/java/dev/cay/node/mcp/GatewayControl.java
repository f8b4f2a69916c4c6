package dev.cay.node.mcp;

import dev.cay.http.Exchange;
import dev.cay.http.Handler;
import dev.cay.http.Json;
import dev.cay.http.Routes;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// Handles requests of the program `mcp-gateway` inside a sandbox. Only reachable from inside, by every user there. The
/// first caller starts the gateway; after that only a caller with its token can replace it or fetch packages. Every
/// user inside can read the servers' states.
public final class GatewayControl implements Handler {
    private static final String PATH = "/mcp-gateway/";
    private static final String TOKEN = "X-Gateway-Token";
    private static final String CURRENT = "X-Gateway-Current-Token";

    /// Header of a program that repeats its request until everything is fetched, and shows the progress meanwhile.
    private static final String PROGRESS = "X-Gateway-Progress";

    private static final Duration LOOK = Duration.ofSeconds(2);
    private static final int MOST_PULLS = 16;
    private static final int LARGEST = 1 << 20;
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    /// Full of credentials: prints as nothing.
    ///
    /// @param token     what clients of the gateway must show; null for nothing
    /// @param metaTools a word of {@link MetaChoice}; null for none
    /// @param shown     the token of the gateway that is there, if it shall have another; null if none is shown
    public record Wanted(
            byte[] config,
            @Nullable String token,
            @Nullable String metaTools,
            @Nullable String shown) {
        @Override
        public boolean equals(Object other) {
            return other instanceof Wanted wanted && Arrays.equals(config, wanted.config);
        }

        @Override
        public int hashCode() {
            return Arrays.hashCode(config);
        }

        @Override
        public String toString() {
            return "Wanted[]";
        }
    }

    /// Does the requested work.
    public interface Work {
        void begin(Wanted wanted);

        /// Refuses a caller without the token of the existing gateway.
        ///
        /// @param shown the caller's token; null without one
        /// @param given the same, from another header
        void requireToken(@Nullable String shown, @Nullable String given);

        /// Fetches what servers need to start. Takes up to minutes.
        void pull(List<String> keys);

        /// The progress of that, in a line; empty if unknown.
        String progress(List<String> keys);

        /// The states of the gateway's servers.
        ObjectNode status();
    }

    private final Work work;
    private final Map<List<String>, CompletableFuture<@Nullable Void>> pulls = new ConcurrentHashMap<>();
    private final Routes routes = new Routes()
            .on("POST", PATH + "start", this::start)
            .on("POST", PATH + "pull", this::pull)
            .on("POST", PATH + "status", this::status);

    public GatewayControl(Work work) {
        this.work = work;
    }

    public boolean handles(Exchange exchange) {
        return exchange.path().startsWith(PATH);
    }

    @Override
    public void handle(Exchange exchange) throws Exception {
        routes.handle(exchange);
    }

    /// A page that a browser shows in here cannot send such a body without asking first, which is not answered.
    private static void requireJson(Exchange exchange) {
        if (!"application/json".equals(exchange.header("Content-Type"))) {
            throw new CayException(ErrorKind.INVALID_ARGUMENT, "Content-Type must be application/json");
        }
    }

    private void pull(Exchange exchange) {
        requireJson(exchange);
        String[] given = exchange.json(String[].class);
        List<String> keys = given == null ? List.of() : List.of(given);
        work.requireToken(exchange.header(CURRENT), exchange.header(TOKEN));
        if (exchange.header(PROGRESS) == null) {
            work.pull(keys);
        } else if (!isPulled(keys)) {
            exchange.sendJson(202, Map.of("status", "fetching", "message", work.progress(keys)));
            return;
        }
        exchange.sendJson(200, Map.of("status", "there"));
    }

    /// Starts a fetch, or waits a moment for a running one.
    private boolean isPulled(List<String> keys) {
        if (pulls.size() >= MOST_PULLS && !pulls.containsKey(keys)) {
            throw new CayException(ErrorKind.EXHAUSTED, "too much is being fetched for this sandbox; try again later");
        }
        var pull = pulls.computeIfAbsent(
                keys,
                wanted -> CompletableFuture.runAsync(
                        () -> work.pull(wanted),
                        thread -> Thread.ofVirtual().name("mcp-pull").start(thread)));
        try {
            var _ = pull.get(LOOK.toNanos(), TimeUnit.NANOSECONDS);
            pulls.remove(keys, pull);
            return true;
        } catch (TimeoutException e) {
            return false;
        } catch (ExecutionException e) {
            pulls.remove(keys, pull);
            throw e.getCause() instanceof CayException known
                    ? new CayException(known.kind(), known.userMessage(), known)
                    : new CayException(ErrorKind.INTERNAL, "servers could not be fetched", e.getCause());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CayException(ErrorKind.CANCELED, "interrupted while servers were fetched", e);
        }
    }

    /// Over several lines, as people read what the program prints.
    private void status(Exchange exchange) {
        requireJson(exchange);
        var text = Json.mapper().writerWithDefaultPrettyPrinter().writeValueAsBytes(work.status());
        exchange.with("Cache-Control", "no-store").send(200, "application/json", text);
    }

    private void start(Exchange exchange) throws IOException {
        requireJson(exchange);
        byte[] config = exchange.body(PATIENCE).readNBytes(LARGEST + 1);
        if (config.length > LARGEST) {
            throw new CayException(ErrorKind.INVALID_ARGUMENT, "--config is larger than 1 MiB");
        }
        work.begin(new Wanted(
                config, exchange.header(TOKEN), exchange.header("X-Gateway-Meta-Tools"), exchange.header(CURRENT)));
        exchange.sendJson(200, Map.of("status", "healthy"));
    }
}
