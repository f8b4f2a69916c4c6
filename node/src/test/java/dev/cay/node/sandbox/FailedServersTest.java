package dev.cay.node.sandbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.http.Json;
import dev.cay.metrics.Meters;
import dev.cay.node.log.LogHub;
import dev.cay.node.mcp.GatewayControl;
import dev.cay.node.mcp.GatewayFactory;
import dev.cay.node.mcp.GatewayRules;
import dev.cay.node.mcp.Gateways;
import dev.cay.node.mcp.MetaChoice;
import dev.cay.node.mcp.catalog.Catalog;
import dev.cay.node.mcp.intercept.Interceptors;
import dev.cay.node.mcp.oauth.Authorizations;
import dev.cay.node.mcp.seal.Seal;
import dev.cay.testing.NeedsRoot;
import dev.cay.web.Addresses;
import dev.cay.web.Dialer;
import dev.cay.wire.node.Ceiling;
import dev.cay.wire.node.Egress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// What users of a gateway get to read about servers that do not begin.
@NeedsRoot
class FailedServersTest extends ServerHomeTest {
    private static final String SECRET = "s3cr3t-of-the-test";

    @TempDir
    Path directory;

    /// @param script of the server
    /// @param end    what shows that all is said
    /// @return the lines of the gateway's log
    private String fate(String script, String end) throws Exception {
        var file = Json.mapper().createObjectNode();
        var entry =
                file.putObject("servers").putObject("moon").put("title", "Moon").put("category", "test");
        var command = entry.putObject("launch").putArray("command");
        List.of("node", "-e", script).forEach(command::add);
        entry.putObject("options").putObject("token").put("kind", "secret").put("env", "TOKEN");
        var catalog = Files.writeString(directory.resolve("servers.yaml"), file.toString());
        var told = new CompletableFuture<String>();
        var places = new Authorizations.Places(
                "http://127.0.0.1:3000", _ -> directory.resolve("mcp.tokens"), directory.resolve("mcp.clients"));
        var seal = Seal.with(directory.resolve("mcp.key"));
        try (var interceptors = new Interceptors(List.of());
                var dialer = new Dialer(Addresses.allowing(List.of()), Map.of());
                var authorizations = new Authorizations(
                        dialer,
                        places,
                        seal,
                        new Authorizations.Bounds(_ -> Egress.open(), Ceiling.NONE),
                        InstantSource.system());
                var gateways = new Gateways(
                        new GatewayFactory(
                                Catalog.load(List.of(catalog), null),
                                new GatewayRules("https://git.invalid/", MetaChoice.OFF, "http://127.0.0.1:3000"),
                                interceptors,
                                homes::open,
                                authorizations,
                                new LogHub(InstantSource.system()),
                                InstantSource.system(),
                                new Meters()),
                        authorizations,
                        seal)) {
            String config = "{\"moon\": {\"token\": \"%s\"}}".formatted(SECRET);
            gateways.start(
                            OWNER,
                            directory,
                            new GatewayControl.Wanted(config.getBytes(StandardCharsets.UTF_8), null, null, null))
                    .writeLogOn(content -> {
                        String log = new String(content, StandardCharsets.UTF_8);
                        if (log.contains(end)) {
                            told.complete(log);
                        }
                    });
            return told.get(90, TimeUnit.SECONDS);
        }
    }

    @Test
    void oneThatNeverAnswersHasItsLastWordsInTheReason() throws Exception {
        assertThat(fate("console.error('waiting for', process.env.TOKEN); setInterval(() => {}, 1000)", "within"))
                .contains("moon did not answer initialize within 30 s; it said last: waiting for ***")
                .doesNotContain(SECRET);
    }

    @Test
    void oneThatEndsAtOnceIsToldByTheErrorAndNotByWhereItHappened() throws Exception {
        String script = "console.error('chatter '.repeat(200)); throw new Error('no ' + process.env.TOKEN)";
        assertThat(fate(script, "exit status"))
                .contains("moon ended: server moon ended (exit status 1); it said last: chatter")
                .contains(" … ")
                .endsWith("Error: no ***\n")
                .doesNotContain("runScript", SECRET);
    }
}
