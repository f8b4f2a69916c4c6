package dev.cay.cli;

import dev.cay.cli.local.ConfigOptions;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;

/// Commands for templates that users have built. All ask the daemon.
final class UserTemplates {
    private static final String NAME = "A template's name or id.";

    private UserTemplates() {}

    static String path(String name) {
        return "/templates/" + encoded(name);
    }

    static String encoded(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8);
    }

    /// The newest build, or the given one.
    private static JsonNode build(Api api, String name, @Nullable String wanted) {
        JsonNode newest = null;
        for (var build : api.call("GET", path(name), null).path("builds")) {
            String created = build.path("createdAt").asString("");
            if (wanted == null
                    ? newest == null
                            || created.compareTo(newest.path("createdAt").asString("")) > 0
                    : wanted.equals(build.path("buildID").asString(""))) {
                newest = build;
            }
        }
        if (newest == null) {
            throw new CayException(
                    ErrorKind.NOT_FOUND,
                    wanted == null
                            ? "template %s has no build".formatted(name)
                            : "template %s has no build %s; `cay template info %s` lists them"
                                    .formatted(name, wanted, name));
        }
        return newest;
    }

    @Command(
            name = "info",
            mixinStandardHelpOptions = true,
            description = "Show a template with its tags and builds.",
            footer = {"", "Examples:", "  ./cay template info my-template"})
    static final class Info implements Callable<Integer> {
        @Mixin
        private ConfigOptions options = new ConfigOptions();

        @Parameters(paramLabel = "NAME", description = NAME)
        private String name = "";

        @Override
        public Integer call() {
            var api = Api.of(options);
            var template = api.call("GET", path(name), null);
            System.out.printf(
                    "%s  %s  %s, used %d times%n",
                    template.path("names").path(0).asString(name),
                    template.path("templateID").asString(""),
                    template.path("public").asBoolean(false) ? "public" : "private",
                    template.path("spawnCount").asLong(0));
            for (var tag : api.call("GET", path(name) + "/tags", null)) {
                System.out.printf(
                        "  tag %-16s %s%n",
                        tag.path("tag").asString(""), tag.path("buildID").asString(""));
            }
            for (var build : template.path("builds")) {
                System.out.printf(
                        "  build %s  %-8s %s  %d CPUs, %d MB%n",
                        build.path("buildID").asString(""),
                        build.path("status").asString(""),
                        build.path("createdAt").asString(""),
                        build.path("cpuCount").asInt(0),
                        build.path("memoryMB").asInt(0));
            }
            return 0;
        }
    }

    @Command(
            name = "logs",
            mixinStandardHelpOptions = true,
            description = "Print what a build said, and follow one that is under way.",
            footer = {"", "Examples:", "  ./cay template logs my-template"})
    static final class Logs implements Callable<Integer> {
        private static final int PAUSE_MILLIS = 300;

        @Mixin
        private ConfigOptions options = new ConfigOptions();

        @Parameters(paramLabel = "NAME", description = NAME)
        private String name = "";

        @Option(names = "--build", paramLabel = "ID", description = "A build; the newest unless you say otherwise.")
        private @Nullable String wanted;

        @Override
        public Integer call() throws InterruptedException {
            var api = Api.of(options);
            return follow(api, name, build(api, name, wanted).path("buildID").asString(""));
        }

        /// Prints a build's log until it ends.
        ///
        /// @return 1 when it failed
        static int follow(Api api, String template, String build) throws InterruptedException {
            int seen = 0;
            while (true) {
                var status = api.call(
                        "GET", "%s/builds/%s/status?logsOffset=%d".formatted(path(template), build, seen), null);
                for (var line : status.path("logEntries")) {
                    System.out.println(line.path("message").asString(""));
                    seen++;
                }
                String state = status.path("status").asString("").toLowerCase(Locale.ROOT);
                if (!status.path("logEntries").isEmpty()) {
                    continue;
                }
                if (state.equals("ready")) {
                    return 0;
                }
                if (!state.equals("building")) {
                    System.err.println(
                            state.equals("waiting")
                                    ? "the build has not begun"
                                    : "the build failed: "
                                            + status.path("reason")
                                                    .path("message")
                                                    .asString("no reason given"));
                    return 1;
                }
                TimeUnit.MILLISECONDS.sleep(PAUSE_MILLIS);
            }
        }
    }

    @Command(
            name = "delete",
            mixinStandardHelpOptions = true,
            description = "Delete templates that no sandbox uses any more.",
            footer = {"", "Examples:", "  ./cay template delete my-template"})
    static final class Delete implements Callable<Integer> {
        @Mixin
        private ConfigOptions options = new ConfigOptions();

        @Parameters(paramLabel = "NAME", arity = "1..*", description = NAME)
        private List<String> names = List.of();

        @Override
        public Integer call() {
            var api = Api.of(options);
            for (String name : names) {
                api.call("DELETE", path(name), null);
                System.out.println("deleted " + name);
            }
            return 0;
        }
    }

    @Command(
            name = "tag",
            mixinStandardHelpOptions = true,
            description = "Give a build further tags; a tag that another build has moves.",
            footer = {"", "Examples:", "  ./cay template tag my-template:v2 stable default"})
    static final class Tag implements Callable<Integer> {
        @Mixin
        private ConfigOptions options = new ConfigOptions();

        @Parameters(index = "0", paramLabel = "NAME:TAG", description = "Which build; without a tag, the default.")
        private String target = "";

        @Parameters(index = "1..*", arity = "1..*", paramLabel = "TAG", description = "The tags it gets.")
        private List<String> tags = List.of();

        @Override
        public Integer call() {
            var tagged = Api.of(options).call("POST", "/templates/tags", Map.of("target", target, "tags", tags));
            System.out.printf("build %s is %s%n", tagged.path("buildID").asString(""), String.join(", ", tags));
            return 0;
        }
    }

    @Command(
            name = "cancel",
            mixinStandardHelpOptions = true,
            description = "End a build that is under way.",
            footer = {"", "Examples:", "  ./cay template cancel my-template"})
    static final class Cancel implements Callable<Integer> {
        @Mixin
        private ConfigOptions options = new ConfigOptions();

        @Parameters(paramLabel = "NAME", description = NAME)
        private String name = "";

        @Option(names = "--build", paramLabel = "ID", description = "A build; the newest unless you say otherwise.")
        private @Nullable String wanted;

        @Override
        public Integer call() {
            var api = Api.of(options);
            String build = build(api, name, wanted).path("buildID").asString("");
            api.call("POST", "%s/builds/%s/cancel".formatted(path(name), build), null);
            System.out.println("cancelled build " + build);
            return 0;
        }
    }
}
