package dev.cay.cli;

import dev.cay.cli.local.ConfigOptions;
import dev.cay.http.Json;
import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import java.util.regex.Pattern;
import java.util.stream.StreamSupport;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;

@Command(
        name = "egress",
        mixinStandardHelpOptions = true,
        description = {
            "Show what a sandbox tried to reach: one line for all attempts that are alike.",
            "The node sees the attempts of sandboxes whose network rules name hosts, change requests, use a proxy,"
                    + " inspect or observe; and of any sandbox what is refused, of all protocols, and connections to"
                    + " remote MCP servers."
        })
final class SandboxEgressCommand implements Callable<Integer> {
    /// The log has `?` for what no host name has, and programs ask for more than host names.
    private static final Pattern NAME = Pattern.compile(
            "(?=.{1,253}$)([a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?\\.)*(?=[^.]*[^0-9.])[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?");

    private static final Duration LOOK = Duration.ofSeconds(1);

    @Mixin
    private ConfigOptions options = new ConfigOptions();

    @Parameters(index = "0", paramLabel = "ID", description = "Id of the sandbox.")
    private String id = "";

    @Option(
            names = {"-f", "--follow"},
            description = "Go on, and print entries when they change.")
    private boolean follow;

    @Option(
            names = "--as-rules",
            description = "Print network rules that allow what was tried, refused or not, and nothing else.")
    private boolean asRules;

    @Option(names = "--json", description = "Print what the API answers.")
    private boolean json;

    @Override
    public Integer call() throws InterruptedException {
        var seen = read();
        if (asRules) {
            System.out.println(Json.text(rules(seen)));
            return 0;
        }
        if (json && !follow) {
            System.out.println(Json.text(seen));
            return 0;
        }
        var printed = new HashMap<String, String>();
        print(seen, printed);
        while (follow) {
            Thread.sleep(LOOK);
            print(read(), printed);
        }
        return 0;
    }

    private JsonNode read() {
        return Api.of(options).call("GET", "/sandboxes/" + id + "/egress", null);
    }

    private void print(JsonNode seen, Map<String, String> printed) {
        if (!follow && seen.path("entries").isEmpty()) {
            System.out.println("nothing was seen");
        }
        for (JsonNode entry : entries(seen).reversed()) {
            String line = json ? Json.text(entry) : line(entry);
            String key = entry.path("protocol").asString("")
                    + entry.path("name")
                    + entry.path("address")
                    + entry.path("port")
                    + entry.path("allowed")
                    + entry.path("match");
            if (!line.equals(printed.put(key, line))) {
                System.out.println(line);
            }
        }
        System.out.flush();
    }

    private static List<JsonNode> entries(JsonNode seen) {
        return StreamSupport.stream(seen.path("entries").spliterator(), false).toList();
    }

    private static String line(JsonNode entry) {
        String name = entry.path("name").asString("");
        String address = entry.path("address").asString("");
        return String.format(
                Locale.ROOT,
                "%s %-7s %-4s %-40s %-21s %6dx %10d sent %10d received  %s",
                entry.path("lastSeen").asString(""),
                entry.path("allowed").asBoolean() ? "allowed" : "refused",
                entry.path("protocol").asString(""),
                name.isEmpty() ? "-" : name,
                address.isEmpty() ? "-" : address + ":" + entry.path("port").asInt(),
                entry.path("attempts").asLong(),
                entry.path("sent").asLong(),
                entry.path("received").asLong(),
                entry.path("match").asString(""));
    }

    /// Names where there are some that rules can have. Other protocols, and other names, need the address and the port.
    static Map<String, Object> rules(JsonNode seen) {
        var allow = new TreeSet<String>();
        for (JsonNode entry : entries(seen)) {
            String name = entry.path("name").asString("");
            String address = entry.path("address").asString("");
            if (NAME.matcher(name).matches()) {
                allow.add(name);
            } else if (!address.isEmpty()) {
                int port = entry.path("port").asInt();
                allow.add(port == 0 ? address : address + ":" + port);
            }
        }
        var rules = new LinkedHashMap<String, Object>();
        rules.put("allowOut", List.copyOf(allow));
        rules.put("denyOut", List.of("0.0.0.0/0"));
        return rules;
    }
}
