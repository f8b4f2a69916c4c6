package dev.cay.cli;

import dev.cay.cli.local.ConfigOptions;
import dev.cay.config.ConfigValue;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.PrintStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

@Command(
        name = "gc",
        mixinStandardHelpOptions = true,
        description =
                "Free disk space: remove layers, uploads, documents of images and warm snapshots that no template,"
                        + " build, sandbox or snapshot of any Cay on this host needs, and that were not used for a while. The daemon"
                        + " does the same once a day (templates.keepUnused). Needs root.",
        footer = {
            "",
            "A removed file is made or fetched again when it is needed.",
            "",
            "Examples:",
            "  sudo ./cay template gc --dry-run",
            "  sudo ./cay template gc",
            "  sudo ./cay template gc --older-than 1d"
        })
final class TemplateGcCommand implements Callable<Integer> {
    private static final Duration LONGEST = Duration.ofDays(3650);
    private static final Duration PAUSE = Duration.ofMillis(300);
    private static final Duration SILENCE = Duration.ofSeconds(1);

    @Mixin
    private ConfigOptions options = new ConfigOptions();

    @Option(names = "--dry-run", description = "Only show what would be removed.")
    private boolean dryRun;

    @Option(
            names = "--older-than",
            paramLabel = "TIME",
            description = "Remove what was not used for this time, like 12h or 7d; 0 for whatever age"
                    + " (default: templates.keepUnused, or 30d where that is never).")
    private @Nullable String age;

    @Option(names = "--json", description = "Print the result as one JSON object.")
    private boolean json;

    @Override
    public Integer call() throws InterruptedException {
        var body = new HashMap<String, Object>(Map.of("dryRun", dryRun));
        if (age != null) {
            body.put("olderThanSeconds", seconds(age));
        }
        return new Collecting(Api.ofOperator(options), System.out, System.err, json).run(body);
    }

    static long seconds(String text) {
        try {
            return ConfigValue.duration(Duration.ZERO, LONGEST)
                    .parse(text.strip())
                    .toSeconds();
        } catch (IllegalArgumentException e) {
            throw new CayException(
                    ErrorKind.INVALID_ARGUMENT,
                    "--older-than must be %s, not \"%s\"".formatted(e.getMessage(), text),
                    e);
        }
    }

    /// Shows a collection of the daemon while it runs.
    ///
    /// @param err for messages other than results
    record Collecting(Api api, PrintStream out, PrintStream err, boolean json) {
        int run(Map<String, Object> body) throws InterruptedException {
            var begun = api.call("POST", "/admin/collections", body);
            boolean dryRun = begun.path("dryRun").asBoolean(false);
            var removed = new ArrayList<JsonNode>();
            var end = follow(begun.path("collectionID").asString(""), dryRun, removed);
            if (end.path("status").asString("").equals("error")) {
                throw new CayException(
                        ErrorKind.FAILED,
                        "not all could be removed: " + end.path("reason").asString("no reason given"));
            }
            tell(
                    dryRun,
                    removed,
                    begun.path("olderThanSeconds").asLong(0),
                    end.path("bytes").asLong(0));
            return 0;
        }

        private JsonNode follow(String id, boolean dryRun, List<JsonNode> removed) throws InterruptedException {
            long spoke = System.nanoTime();
            while (true) {
                var state = api.call("GET", "/admin/collections/%s?offset=%d".formatted(id, removed.size()), null);
                for (var one : state.path("removed")) {
                    removed.add(one);
                    show(dryRun, one);
                    spoke = System.nanoTime();
                }
                if (!state.path("status").asString("").equals("running")) {
                    return state;
                }
                if (System.nanoTime() - spoke > SILENCE.toNanos()) {
                    err.printf(
                            "  .. at work; %d things so far, %s%n",
                            removed.size(), PoolCommand.size(state.path("bytes").asLong(0)));
                    spoke = System.nanoTime();
                }
                TimeUnit.NANOSECONDS.sleep(PAUSE.toNanos());
            }
        }

        private void show(boolean dryRun, JsonNode one) {
            if (!json) {
                out.println(String.format(
                        Locale.ROOT,
                        "%s  %8s  %s  %s",
                        dryRun ? "would remove" : "removed",
                        PoolCommand.size(one.path("bytes").asLong(0)),
                        one.path("what").asString(""),
                        one.path("name").asString("")));
            }
        }

        private void tell(boolean dryRun, List<JsonNode> removed, long seconds, long bytes) {
            if (json) {
                out.println(JsonMapper.shared()
                        .writeValueAsString(Map.of(
                                "dryRun", dryRun, "olderThanSeconds", seconds, "bytes", bytes, "removed", removed)));
                return;
            }
            if (removed.isEmpty()) {
                out.println("nothing to remove: all there is is in use, or was used during the last " + shown(seconds));
                return;
            }
            out.println(
                    dryRun
                            ? "in all %s; nothing was changed".formatted(PoolCommand.size(bytes))
                            : "%s are free again".formatted(PoolCommand.size(bytes)));
        }

        private static String shown(long seconds) {
            var age = Duration.ofSeconds(seconds);
            return age.toDays() > 0 && seconds % 86_400 == 0
                    ? age.toDays() + " days"
                    : age.toHours() > 0 && seconds % 3600 == 0 ? age.toHours() + " hours" : seconds + " seconds";
        }
    }
}
