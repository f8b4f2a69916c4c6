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
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// Where the program `mcp-gateway` inside a sandbox says what it wants. Only ever reached from inside, by every user
/// there. The first who comes begins the gateway; after that only who shows its token can replace it or fetch packages.
/// How the servers are doing is told to all who are inside.
public final class GatewayControl implements Handler {
    private static final String PATH = "/mcp-gateway/";
    private static final String TOKEN = "X-Gateway-Token";
    private static final String CURRENT = "X-Gateway-Current-Token";
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

    /// Does what is wanted.
    public interface Work {
        void begin(Wanted wanted);

        /// @param shown the token of the gateway that is there, as the caller knows it; null if it shows none
        /// @param given the same, from another place
        void pull(List<String> keys, @Nullable String shown, @Nullable String given);

        /// How the servers of the gateway are doing.
        ObjectNode status();
    }

    private final Work work;
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
        String[] keys = exchange.json(String[].class);
        work.pull(keys == null ? List.of() : List.of(keys), exchange.header(CURRENT), exchange.header(TOKEN));
        exchange.sendJson(200, Map.of("status", "there"));
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
