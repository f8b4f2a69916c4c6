package dev.cay.prove;

import dev.cay.node.mcp.catalog.Catalog;
import dev.cay.node.mcp.catalog.CatalogServer;
import dev.cay.node.mcp.catalog.ServerLaunch;
import dev.cay.platform.NpmClient;
import dev.cay.platform.OwnCay;
import dev.cay.platform.Script;
import dev.cay.prove.CatalogTable.Row;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// Every server of the catalog that an npm package has is started once, with options that are made up.
///
/// What vendors would not accept is seen when a tool is called, which is not done here.
final class CatalogProof implements Proof {
    private static final int PROMISED = 30;
    private static final String TEMPLATE = "mcp-gateway";

    /// Packages are being installed meanwhile, which takes all there is.
    private static final int AT_ONCE = 2;

    private static final Duration LIMIT = Duration.ofMinutes(20);

    @Override
    public String name() {
        return "catalog";
    }

    @Override
    public String promise() {
        return ("every server of the catalog that has an npm package is started by a gateway: at least %d list their"
                        + " tools, each other one is told with its own words in the table of [mcp.md](mcp.md)")
                .formatted(PROMISED);
    }

    @Override
    public Verdict run(Stage stage) throws Exception {
        var all = CatalogTable.servers(Catalog.builtIn());
        var servers = stage.chosen(all, CatalogServer::key);
        var cay = stage.cay(Map.of("templates.prepare", TEMPLATE), confirmation(servers));
        cay.awaitTemplate(TEMPLATE);
        var rows = new ArrayList<Row>();
        try (var script = script(cay)) {
            script.tell(orders(servers));
            for (int i = 0; i < servers.size(); i++) {
                var row = row(servers, script.next(LIMIT));
                stage.say(
                        row.tools() > 0
                                ? "%s: %d tools".formatted(row.key(), row.tools())
                                : "%s: %s".formatted(row.key(), row.reason()));
                rows.add(row);
            }
        }
        return verdict(new CatalogTable(rows), PROMISED - (all.size() - servers.size()));
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

    /// What an operator says who is content with the packages: also with those that are only called like the product,
    /// and where the vendor would be asked otherwise.
    private static String confirmation(List<CatalogServer> servers) {
        var section = JsonMapper.shared().createObjectNode();
        servers.forEach(server -> section.putObject(server.key()).put("launch", "npm"));
        // YAML knows all that JSON does.
        return "mcp: {servers: %s}\n".formatted(section);
    }

    private static String orders(List<CatalogServer> servers) {
        var orders = JsonMapper.shared().createArrayNode();
        for (var server : servers) {
            orders.addObject().put("key", server.key()).set("options", MadeUpOptions.of(server));
        }
        return orders.toString();
    }

    private static Row row(List<CatalogServer> servers, JsonNode told) {
        String key = told.path("key").asString();
        var server = servers.stream()
                .filter(one -> one.key().equals(key))
                .findFirst()
                .orElseThrow();
        var npm = server.launch(ServerLaunch.Npm.class).orElseThrow();
        return new Row(
                key,
                npm.packageName() + " " + npm.version(),
                told.path("tools").size(),
                told.path("reason").asString(""));
    }

    private static Verdict verdict(CatalogTable table, int promised) {
        return new Verdict(
                table.listing() >= promised && table.unexplained().isEmpty(), table.summary(), table.lines());
    }

    @Override
    public void document(Path home, Verdict verdict) throws IOException {
        CatalogTable.write(home, verdict.details());
    }
}
