package dev.cay.cli;

import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Option;
import tools.jackson.databind.JsonNode;

/// Options of commands that show or set the egress of sandboxes whose creator says nothing about it.
final class NetworkDefault {
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

    /// Does what the options say, and prints what holds then.
    ///
    /// @param path where the API has the rules
    /// @param none what is printed when there are none
    void apply(Api api, String path, String none) {
        boolean sets = offline || !allow.isEmpty() || !deny.isEmpty();
        if (reset && sets) {
            throw new CayException(ErrorKind.INVALID_ARGUMENT, "--default takes all rules away; give it alone");
        }
        if (reset) {
            api.call("DELETE", path, null);
        }
        print(sets ? api.call("PUT", path, body()) : api.call("GET", path, null), none);
    }

    private Map<String, Object> body() {
        var body = new LinkedHashMap<String, Object>();
        body.put("allowOut", allow);
        body.put("denyOut", deny);
        if (offline) {
            body.put("allow_internet_access", false);
        }
        return body;
    }

    private static void print(JsonNode answer, String none) {
        if (answer.path("source").asString("").equals("default")) {
            System.out.println(none);
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
