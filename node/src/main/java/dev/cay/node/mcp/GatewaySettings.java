package dev.cay.node.mcp;

import dev.cay.http.Json;
import dev.cay.node.mcp.catalog.Catalog;
import dev.cay.node.mcp.catalog.ServerPlan;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// A user's settings of a gateway. They contain credentials, so their text form is empty.
///
/// @param token     token that clients must show; null for none
/// @param metaTools null for the operator's default
/// @param servers   by their keys, as the user gave them
record GatewaySettings(@Nullable String token, @Nullable MetaChoice metaTools, ObjectNode servers) {
    private static final int MOST_SERVERS = 32;
    private static final int LARGEST = 1 << 20;

    /// @param config    the object that clients give as `mcp`
    /// @param metaTools the word for it; null or empty for none
    static GatewaySettings read(byte[] config, @Nullable String token, @Nullable String metaTools) {
        JsonNode tree;
        try {
            tree = Json.mapper().readTree(config);
        } catch (JacksonException e) {
            // Without the parser's message, which would quote the text.
            throw invalid("--config is not valid JSON");
        }
        if (!(tree instanceof ObjectNode servers)) {
            throw invalid("--config must be an object with a server in each field, like {\"notion\": {...}}");
        }
        if (servers.size() > MOST_SERVERS) {
            throw invalid("--config has %d servers; a gateway has at most %d".formatted(servers.size(), MOST_SERVERS));
        }
        return new GatewaySettings(
                token == null || token.isEmpty() ? null : token,
                metaTools == null || metaTools.isEmpty() ? null : MetaChoice.of("--meta-tools", metaTools),
                servers);
    }

    /// A copy with one more server.
    GatewaySettings with(String key, ObjectNode options) {
        if (servers.has(key)) {
            throw new CayException(
                    ErrorKind.ALREADY_EXISTS,
                    "%s exists already; remove it first to give it other options".formatted(key));
        }
        if (servers.size() >= MOST_SERVERS) {
            throw new CayException(
                    ErrorKind.EXHAUSTED,
                    "a gateway has at most %d servers; remove one that is not needed".formatted(MOST_SERVERS));
        }
        var more = servers.deepCopy();
        more.set(key, options);
        var changed = new GatewaySettings(token, metaTools, more);
        if (changed.bytes().length > LARGEST) {
            throw invalid("the options of all servers are larger than 1 MiB together");
        }
        return changed;
    }

    GatewaySettings without(String key) {
        if (!servers.has(key)) {
            throw new CayException(ErrorKind.NOT_FOUND, "%s was removed meanwhile".formatted(key));
        }
        var fewer = servers.deepCopy();
        fewer.remove(key);
        return new GatewaySettings(token, metaTools, fewer);
    }

    /// Keys of all servers.
    Set<String> keys() {
        return Set.copyOf(servers.propertyNames());
    }

    private static CayException invalid(String message) {
        return new CayException(ErrorKind.INVALID_ARGUMENT, message);
    }

    /// The plan of a server.
    ///
    /// @param problem why it cannot be started; null if it can
    record Planned(ServerPlan plan, @Nullable CayException problem) {
        boolean isMistake() {
            return problem != null && problem.kind() == ErrorKind.INVALID_ARGUMENT;
        }
    }

    /// Builds a plan for every requested server, also for those that cannot be started.
    List<Planned> plans(Catalog catalog, CustomServers custom) {
        var plans = new ArrayList<Planned>();
        servers.forEachEntry((key, options) -> {
            try {
                var plan = CustomServers.isOne(key) ? custom.plan(key, options) : catalog.plan(key, options);
                plans.add(new Planned(plan, null));
            } catch (CayException e) {
                plans.add(new Planned(ServerPlan.none(key), e));
            }
        });
        return plans;
    }

    /// Refuses what a user can correct, with everything that is wrong. What this host cannot start is no such mistake:
    /// it is reported of that server, and the others work.
    static void requireNoMistake(List<Planned> plans) {
        var problems = plans.stream()
                .filter(Planned::isMistake)
                .map(planned -> Objects.requireNonNull(planned.problem()))
                .toList();
        if (!problems.isEmpty()) {
            throw new CayException(
                    problems.getFirst().kind(),
                    String.join(
                            "\n",
                            problems.stream().map(CayException::userMessage).toList()));
        }
    }

    byte[] bytes() {
        var tree = Json.mapper().createObjectNode().put("token", token);
        if (metaTools != null) {
            tree.put("metaTools", metaTools.word());
        }
        tree.set("servers", servers);
        return Json.write(tree);
    }

    static GatewaySettings of(byte[] bytes) {
        var tree = Json.mapper().readTree(bytes);
        var token = tree.path("token");
        var metaTools = tree.path("metaTools");
        return new GatewaySettings(
                token.isString() ? token.asString() : null,
                metaTools.isString() ? MetaChoice.of("metaTools", metaTools.asString()) : null,
                (ObjectNode) tree.path("servers"));
    }

    @Override
    public String toString() {
        return "GatewaySettings[%d servers]".formatted(servers.size());
    }
}
