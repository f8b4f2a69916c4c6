package dev.cay.node.mcp;

import dev.cay.http.Exchange;
import dev.cay.http.Handler;
import dev.cay.http.Routes;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// Where the program `mcp-gateway` inside a sandbox says what it wants. Only ever reached from inside, by whoever is
/// there: a gateway can do for them what they ask for, and nothing for others.
public final class GatewayControl implements Handler {
    private static final String PATH = "/mcp-gateway/";
    private static final int LARGEST = 1 << 20;
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    /// Full of credentials: prints as nothing.
    ///
    /// @param metaTools a word of {@link MetaChoice}; null for none
    public record Wanted(
            byte[] config, @Nullable String token, @Nullable String metaTools) {
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

    private final Consumer<Wanted> begin;
    private final Consumer<List<String>> pull;
    private final Routes routes =
            new Routes().on("POST", PATH + "start", this::start).on("POST", PATH + "pull", this::pull);

    public GatewayControl(Consumer<Wanted> begin, Consumer<List<String>> pull) {
        this.begin = begin;
        this.pull = pull;
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
        pull.accept(keys == null ? List.of() : List.of(keys));
        exchange.sendJson(200, Map.of("status", "there"));
    }

    private void start(Exchange exchange) throws IOException {
        requireJson(exchange);
        byte[] config = exchange.body(PATIENCE).readNBytes(LARGEST + 1);
        if (config.length > LARGEST) {
            throw new CayException(ErrorKind.INVALID_ARGUMENT, "--config is larger than 1 MiB");
        }
        begin.accept(new Wanted(config, exchange.header("X-Gateway-Token"), exchange.header("X-Gateway-Meta-Tools")));
        exchange.sendJson(200, Map.of("status", "healthy"));
    }
}
