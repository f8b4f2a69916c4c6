package dev.cay.cli;

import dev.cay.config.ConfigValue;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.NullNode;

/// Limits on the command line. Options that are left out change nothing; `none` removes a limit.
final class LimitOptions {
    private static final ConfigValue<Integer> COUNT = ConfigValue.number(1, Integer.MAX_VALUE);
    private static final ConfigValue<Integer> SIZE = ConfigValue.megabytes(1, Integer.MAX_VALUE);

    @Option(
            names = "--profile",
            paramLabel = "NAME",
            description = "Set all limits first: none, or those of E2B's plans hobby and pro.")
    private @Nullable String profile;

    @Option(names = "--sandboxes", paramLabel = "N", description = "Sandboxes that run at once.")
    private @Nullable String sandboxes;

    @Option(names = "--vcpus", paramLabel = "N", description = "vCPUs of all running sandboxes.")
    private @Nullable String vcpus;

    @Option(names = "--memory", paramLabel = "SIZE", description = "Memory of all running sandboxes, like 16GB.")
    private @Nullable String memory;

    @Option(
            names = "--disk",
            paramLabel = "SIZE",
            description = "What sandboxes, snapshots and volumes hold in the pool, running or paused, like 50GB.")
    private @Nullable String disk;

    @Option(names = "--builds", paramLabel = "N", description = "Builds of templates at once.")
    private @Nullable String builds;

    @Option(names = "--creates-per-second", paramLabel = "N", description = "Sandboxes created or forked.")
    private @Nullable String creates;

    @Option(names = "--api-calls", paramLabel = "N", description = "Requests to the API in 30 seconds.")
    private @Nullable String calls;

    @Option(names = "--operations", paramLabel = "N", description = "Requests to sandboxes in a minute.")
    private @Nullable String operations;

    /// The fields of a request that sets them; empty if none is given.
    Map<String, Object> body() {
        var body = new LinkedHashMap<String, Object>();
        if (profile != null) {
            body.put("profile", profile);
        }
        putCount(body, "sandboxes", "--sandboxes", sandboxes);
        putCount(body, "vcpus", "--vcpus", vcpus);
        putSize(body, "memoryMB", "--memory", memory);
        putSize(body, "diskMB", "--disk", disk);
        putCount(body, "builds", "--builds", builds);
        putCount(body, "createsPerSecond", "--creates-per-second", creates);
        putCount(body, "apiCallsPer30s", "--api-calls", calls);
        putCount(body, "operationsPerMinute", "--operations", operations);
        return body;
    }

    private static void putCount(Map<String, Object> body, String field, String option, @Nullable String text) {
        put(body, field, option, text, COUNT);
    }

    private static void putSize(Map<String, Object> body, String field, String option, @Nullable String text) {
        put(body, field, option, text, SIZE);
    }

    private static void put(
            Map<String, Object> body, String field, String option, @Nullable String text, ConfigValue<Integer> value) {
        if (text == null) {
            return;
        }
        try {
            body.put(field, text.equals("none") ? NullNode.getInstance() : value.parse(text));
        } catch (IllegalArgumentException e) {
            throw new CayException(
                    ErrorKind.INVALID_ARGUMENT,
                    "%s must be %s, or none; not '%s'".formatted(option, e.getMessage(), text));
        }
    }

    /// Prints one line for each limit, with the current use where it is counted.
    static void print(JsonNode answer) {
        for (var limit : answer.path("limits").properties()) {
            var used = answer.path("use").path(limit.getKey());
            System.out.println(String.format(
                    Locale.ROOT,
                    "%-20s %10s%s",
                    limit.getKey(),
                    limit.getValue().isNull() ? "none" : limit.getValue().asString(),
                    used.isMissingNode() || used.isNull() ? "" : "   in use: " + used.asString()));
        }
    }
}
