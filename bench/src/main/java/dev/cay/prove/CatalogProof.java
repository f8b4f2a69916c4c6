package dev.cay.prove;

import dev.cay.life.Trees;
import dev.cay.node.mcp.catalog.Catalog;
import dev.cay.node.mcp.catalog.CatalogServer;
import dev.cay.node.mcp.catalog.LaunchPlan;
import dev.cay.node.mcp.catalog.ServerLaunch;
import dev.cay.platform.NpmClient;
import dev.cay.platform.OwnCay;
import dev.cay.platform.Script;
import dev.cay.prove.CatalogTable.Row;
import dev.cay.wire.CayException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/// Every server of the catalog is started in each of its ways, with options that are made up: packages of npm for real,
/// images from a stand-in that tells what it was started with, remote servers as stand-ins that tell what they heard.
///
/// What vendors would not accept is seen when a tool is called, which is not done here.
final class CatalogProof implements Proof {
    private static final int PROMISED = 40;
    private static final String TEMPLATE = "mcp-gateway";

    /// Packages are being installed meanwhile, which takes all there is.
    private static final int AT_ONCE = 2;

    /// How many stand-ins one sandbox has.
    private static final int TOGETHER = 12;

    private static final Duration LIMIT = Duration.ofMinutes(20);

    private final Catalog catalog = Catalog.builtIn();

    @Override
    public String name() {
        return "catalog";
    }

    @Override
    public String promise() {
        return ("every server of the catalog has a way to start: at least %d npm packages list their tools, each other"
                        + " one is told with its own words; every image is started and every remote server is called"
                        + " with what the catalog says, by stand-ins ([table](mcp-catalog.md))")
                .formatted(PROMISED);
    }

    @Override
    public Verdict run(Stage stage) throws Exception {
        var all = catalog.servers();
        var servers = stage.chosen(all, CatalogServer::key);
        var rows = new ArrayList<Row>();
        rows.addAll(packages(stage, having(servers, ServerLaunch.Npm.class)));
        rows.addAll(images(stage, having(servers, ServerLaunch.Image.class)));
        rows.addAll(remotes(stage, having(servers, ServerLaunch.Remote.class)));
        var table = new CatalogTable(rows);
        boolean holds = table.broken().isEmpty() && (servers.size() < all.size() || table.listing() >= PROMISED);
        return new Verdict(holds, table.summary(), table.lines());
    }

    private static List<CatalogServer> having(List<CatalogServer> servers, Class<? extends ServerLaunch> way) {
        return servers.stream().filter(server -> server.launch(way).isPresent()).toList();
    }

    /// What an operator says who is content with the packages: also with those that are only called like the product.
    private List<Row> packages(Stage stage, List<CatalogServer> servers) throws Exception {
        var section = JsonMapper.shared().createObjectNode();
        servers.forEach(server -> section.putObject(server.key()).put("launch", "npm"));
        return play(
                stage,
                Map.of(),
                section,
                servers,
                1,
                ServerLaunch.Npm.class,
                (_, _, told) -> told.path("reason").asString(""));
    }

    private List<Row> images(Stage stage, List<CatalogServer> servers) throws Exception {
        var section = JsonMapper.shared().createObjectNode();
        servers.forEach(server -> section.putObject(server.key()).put("way", "image"));
        var directory = Files.createTempDirectory("cay-stand-in-");
        try (var registry = new StandInRegistry(directory)) {
            var settings = Map.of("images.mirrors", registry.mirrors(), "images.mirrorsOnly", "true");
            return play(
                    stage,
                    settings,
                    section,
                    servers,
                    TOGETHER,
                    ServerLaunch.Image.class,
                    (server, plan, told) -> unlike(plan, told.path("said").asString("")));
        } finally {
            Trees.delete(directory);
        }
    }

    /// What of the plan the stand-in was not started with; empty if it was with all.
    private static String unlike(LaunchPlan plan, String said) {
        var arguments = said.lines()
                .filter(line -> line.startsWith("argument "))
                .map(line -> line.substring("argument ".length()))
                .toList();
        var expected = ((LaunchPlan.Image) plan.start()).arguments();
        if (!arguments.equals(expected)) {
            return "it has %d arguments, and not the %d that the catalog says"
                    .formatted(arguments.size(), expected.size());
        }
        return plan.environment().entrySet().stream()
                .filter(variable ->
                        !said.contains("variable %s=%s\n".formatted(variable.getKey(), variable.getValue())))
                .map(variable -> "it does not have the variable " + variable.getKey())
                .findFirst()
                .orElse("");
    }

    private List<Row> remotes(Stage stage, List<CatalogServer> servers) throws Exception {
        try (var remote = new StandInRemote()) {
            var section = JsonMapper.shared().createObjectNode();
            for (var server : servers) {
                var entry = server.launch(ServerLaunch.Remote.class).orElseThrow();
                boolean sse = entry.transport() == ServerLaunch.Transport.SSE;
                var launch = section.putObject(server.key())
                        .putObject("launch")
                        .putObject("remote")
                        .put("url", remote.url(server.key()) + (sse ? "?sse" : ""))
                        .put("transport", entry.transport().word());
                var headers = launch.putObject("headers");
                entry.headers().forEach((name, value) -> headers.put(name, value.text()));
            }
            return play(
                    stage,
                    Map.of("mcp.remoteAddresses", "127.0.0.1"),
                    section,
                    servers,
                    TOGETHER,
                    ServerLaunch.Remote.class,
                    (server, plan, _) -> unheard(plan, remote.headers(server.key())));
        }
    }

    private static String unheard(LaunchPlan plan, Map<String, String> heard) {
        return ((LaunchPlan.Remote) plan.start())
                .headers().entrySet().stream()
                        .filter(header -> !header.getValue()
                                .equals(heard.get(header.getKey().toLowerCase(Locale.ROOT))))
                        .map(header -> "it was called without the header " + header.getKey())
                        .findFirst()
                        .orElse("");
    }

    /// Compares what a server told with what it was to be started with.
    private interface Check {
        /// @return what is wrong; empty if nothing is
        String of(CatalogServer server, LaunchPlan plan, JsonNode told);
    }

    private List<Row> play(
            Stage stage,
            Map<String, String> settings,
            ObjectNode section,
            List<CatalogServer> servers,
            int together,
            Class<? extends ServerLaunch> way,
            Check check)
            throws Exception {
        var rows = new ArrayList<Row>();
        if (servers.isEmpty()) {
            return rows;
        }
        var all = new HashMap<>(settings);
        all.put("templates.prepare", TEMPLATE);
        // YAML knows all that JSON does.
        var cay = stage.cay(all, "mcp: {servers: %s}\n".formatted(section));
        cay.awaitTemplate(TEMPLATE);
        var byKey = servers.stream().collect(Collectors.toMap(CatalogServer::key, server -> server));
        try (var script = script(cay)) {
            script.tell(orders(servers, together));
            for (int i = 0; i < servers.size(); i++) {
                var told = script.next(LIMIT);
                var row = row(Objects.requireNonNull(byKey.get(told.path("key").asString())), way, told, check);
                stage.say("%s, %s: %s"
                        .formatted(row.key(), row.way(), row.tools() > 0 ? row.tools() + " tools" : row.reason()));
                rows.add(row);
            }
        }
        stage.endDaemons();
        return rows;
    }

    private static Script script(OwnCay cay) throws IOException, InterruptedException {
        var environment = new HashMap<>(cay.environment(OwnCay.Mode.DOMAIN));
        environment.put("E2B_API_URL", cay.url().toString());
        environment.put(
                "CAY_MCP_CLIENT",
                NpmClient.install("@modelcontextprotocol/sdk", "1.32.2")
                        .directory()
                        .toString());
        return Script.start(NpmClient.e2b(), environment, CatalogProof.class, "catalog.mjs", Integer.toString(AT_ONCE));
    }

    /// A list of sandboxes, each a list of servers.
    private static String orders(List<CatalogServer> servers, int together) {
        var orders = JsonMapper.shared().createArrayNode();
        IntStream.iterate(0, first -> first < servers.size(), first -> first + together)
                .forEach(first -> {
                    var group = orders.addArray();
                    for (var server : servers.subList(first, Math.min(servers.size(), first + together))) {
                        group.addObject()
                                .put("key", server.key())
                                .put("prefix", server.name())
                                .set("options", MadeUpOptions.of(server));
                    }
                });
        return orders.toString();
    }

    private Row row(CatalogServer server, Class<? extends ServerLaunch> way, JsonNode told, Check check) {
        var launch = server.launch(way).orElseThrow();
        String name = CatalogTable.way(launch);
        int tools = told.path("tools").size();
        if (tools == 0) {
            return new Row(server.key(), name, 0, told.path("reason").asString(""));
        }
        String wrong = plan(server, launch.word())
                .map(plan -> check.of(server, plan, told))
                .orElse("");
        return new Row(server.key(), name, wrong.isEmpty() ? tools : 0, wrong);
    }

    /// What the entry says for this way; nothing for a package that only an operator may confirm.
    private Optional<LaunchPlan> plan(CatalogServer server, String word) {
        try {
            return catalog.plan(server.key(), MadeUpOptions.of(server)).ways().stream()
                    .filter(plan -> plan.start().word().equals(word))
                    .findFirst();
        } catch (CayException e) {
            return Optional.empty();
        }
    }

    @Override
    public void document(Path home, Verdict verdict) throws IOException {
        CatalogTable.write(home, verdict.details());
    }
}
