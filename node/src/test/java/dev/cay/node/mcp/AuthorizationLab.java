package dev.cay.node.mcp;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.wire.node.NodeAuthorizations.Redirect;
import java.net.URI;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Queue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/// Gateways with a remote server that wants an authorization of its user.
@Timeout(180)
abstract class AuthorizationLab {
    @TempDir
    Path directory = Path.of("unset");

    SignInServer birds;

    SmallGateways world;

    @BeforeEach
    void begin() throws Exception {
        birds = new SignInServer();
        world = world("");
    }

    SmallGateways world(String config) throws Exception {
        return new SmallGateways(
                directory, MetaChoice.OFF, "servers:\n" + SmallGateways.entry("birds", birds.url()), config);
    }

    @AfterEach
    void end() {
        world.close();
        birds.close();
    }

    static JsonNode state(McpGateway gateway) {
        return gateway.status().path("servers").path("birds");
    }

    static String link(McpGateway gateway) {
        var state = state(gateway);
        assertThat(state.path("state").asString()).isEqualTo("needs authorization");
        return state.path("authorize").asString();
    }

    /// What a browser brings to the callback.
    static Redirect redirect(URI end) {
        var fields = new HashMap<String, String>();
        for (String pair : end.getRawQuery().split("&")) {
            String[] both = pair.split("=", 2);
            fields.put(both[0], URLDecoder.decode(both[1], StandardCharsets.UTF_8));
        }
        return new Redirect(fields.get("state"), fields.get("code"), fields.get("iss"), fields.get("error"));
    }

    void authorize(McpGateway gateway) {
        world.authorizations.complete(redirect(birds.agree(link(gateway))));
    }

    static String tools(McpGateway gateway) throws Exception {
        try (var client = new SmallClient(gateway)) {
            return client.tools();
        }
    }

    /// A gateway whose server was authorized.
    McpGateway authorized() throws Exception {
        var gateway = world.start("{\"birds\": {}}", null);
        authorize(gateway);
        assertThat(tools(gateway)).isEqualTo("birds-sing");
        return gateway;
    }

    static long count(Queue<String> all, String part) {
        return all.stream().filter(one -> one.contains(part)).count();
    }

    /// Fails without an address to open, for this reason.
    void fails(McpGateway gateway, String reason) {
        var state = state(gateway);
        assertThat(state.path("state").asString()).isEqualTo("failed");
        assertThat(state.path("reason").asString()).contains(reason);
        assertThat(state.has("authorize")).isFalse();
    }
}
