package dev.cay.cli;

import dev.cay.cli.local.ConfigOptions;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;

/// The default egress of a team's sandboxes.
@Command(
        name = "network",
        mixinStandardHelpOptions = true,
        description = {
            "Show or set what sandboxes of a team may reach whose creator says nothing about it.",
            "It replaces what was set before, and holds for sandboxes that are created afterwards. It is a default: who",
            "creates a sandbox can choose otherwise. What nobody may reach is in the settings, network.egress.*."
        })
final class TeamNetworkCommand implements Callable<Integer> {
    @Mixin
    private ConfigOptions options = new ConfigOptions();

    @Parameters(index = "0", paramLabel = "TEAM", description = "Slug, name or id of the team.")
    private String team = "";

    @Option(
            names = "--allow",
            paramLabel = "DESTINATION",
            split = ",",
            description = "Address, range, host name or *.domain; several with commas, or several times.")
    private List<String> allow = List.of();

    @Option(
            names = "--deny",
            paramLabel = "ADDRESS",
            split = ",",
            description = "Address or range that is refused unless it is allowed; 0.0.0.0/0 is everything.")
    private List<String> deny = List.of();

    @Option(names = "--no-internet", description = "Nothing is reached, whatever else is said.")
    private boolean offline;

    @Option(names = "--default", description = "Take away what was set.")
    private boolean reset;

    @Override
    public Integer call() {
        boolean sets = offline || !allow.isEmpty() || !deny.isEmpty();
        if (reset && sets) {
            throw new CayException(ErrorKind.INVALID_ARGUMENT, "--default takes all rules away; give it alone");
        }
        var operator = Api.ofOperator(options);
        String path = "/admin/teams/%s/network".formatted(TeamIds.require(operator, team));
        if (reset) {
            operator.call("DELETE", path, null);
        }
        if (!sets) {
            print(operator.call("GET", path, null));
            return 0;
        }
        var body = new LinkedHashMap<String, Object>();
        body.put("allowOut", allow);
        body.put("denyOut", deny);
        if (offline) {
            body.put("allow_internet_access", false);
        }
        print(operator.call("PUT", path, body));
        return 0;
    }

    private static void print(JsonNode answer) {
        if (answer.path("source").asString("").equals("default")) {
            System.out.println("no default; sandboxes reach all that network.egress of the settings lets them reach");
            return;
        }
        boolean off = answer.path("allow_internet_access").isBoolean()
                && !answer.path("allow_internet_access").asBoolean();
        System.out.println("internet  " + (off ? "no" : "yes"));
        print("allow", answer.path("network").path("allowOut"));
        print("deny", answer.path("network").path("denyOut"));
        for (var rule : answer.path("network").path("rules").properties()) {
            System.out.println("rule      " + rule.getKey());
        }
        if (answer.path("network").has("egressProxy")) {
            System.out.println("proxy     "
                    + answer.path("network").path("egressProxy").path("address").asString(""));
        }
    }

    private static void print(String what, JsonNode entries) {
        for (var entry : entries) {
            System.out.println("%-9s %s".formatted(what, entry.asString()));
        }
    }
}
