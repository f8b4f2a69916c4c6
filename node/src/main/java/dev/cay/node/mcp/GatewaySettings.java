package dev.cay.node.mcp;

import dev.cay.http.Json;
import dev.cay.node.mcp.catalog.Catalog;
import dev.cay.node.mcp.catalog.LaunchPlan;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// What a user wants of a gateway. Full of credentials: prints as nothing.
///
/// @param token   what its clients must show; null if anybody may come
/// @param servers as the user gave them, by their keys
record GatewaySettings(@Nullable String token, ObjectNode servers) {
    private static final int MOST_SERVERS = 32;

    /// @param config the object that clients give as `mcp`
    static GatewaySettings read(byte[] config, @Nullable String token) {
        JsonNode tree;
        try {
            tree = Json.mapper().readTree(config);
        } catch (JacksonException e) {
            // What it says would quote the text.
            throw invalid("--config is not valid JSON");
        }
        if (!(tree instanceof ObjectNode servers)) {
            throw invalid("--config must be an object with a server in each field, like {\"notion\": {...}}");
        }
        if (servers.size() > MOST_SERVERS) {
            throw invalid("--config has %d servers; a gateway has at most %d".formatted(servers.size(), MOST_SERVERS));
        }
        return new GatewaySettings(token == null || token.isEmpty() ? null : token, servers);
    }

    private static CayException invalid(String message) {
        return new CayException(ErrorKind.INVALID_ARGUMENT, message);
    }

    /// What it takes to start them all; refuses with everything that is wrong.
    List<LaunchPlan> plans(Catalog catalog, CustomServers custom) {
        var plans = new ArrayList<LaunchPlan>();
        var problems = new ArrayList<CayException>();
        servers.forEachEntry((key, options) -> {
            try {
                plans.add(CustomServers.isOne(key) ? custom.plan(key, options) : catalog.plan(key, options));
            } catch (CayException e) {
                problems.add(e);
            }
        });
        if (!problems.isEmpty()) {
            throw new CayException(
                    problems.getFirst().kind(),
                    String.join(
                            "\n",
                            problems.stream().map(CayException::userMessage).toList()));
        }
        return plans;
    }

    byte[] bytes() {
        var tree = Json.mapper().createObjectNode().put("token", token);
        tree.set("servers", servers);
        return Json.write(tree);
    }

    static GatewaySettings of(byte[] bytes) {
        var tree = Json.mapper().readTree(bytes);
        var token = tree.path("token");
        return new GatewaySettings(token.isString() ? token.asString() : null, (ObjectNode) tree.path("servers"));
    }

    @Override
    public String toString() {
        return "GatewaySettings[%d servers]".formatted(servers.size());
    }
}
