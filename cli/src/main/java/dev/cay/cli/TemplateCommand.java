package dev.cay.cli;

import dev.cay.cli.local.ConfigOptions;
import dev.cay.cli.local.Root;
import dev.cay.cli.local.RunFile;
import dev.cay.config.CayConfig;
import dev.cay.node.image.HouseTemplate;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import picocli.CommandLine.Command;

@Command(
        name = "template",
        mixinStandardHelpOptions = true,
        description = "Show, build, change and delete templates, and free disk space.",
        subcommands = {
            TemplateCommand.ListAll.class,
            TemplateBuildCommand.class,
            UserTemplates.Info.class,
            UserTemplates.Logs.class,
            UserTemplates.Tag.class,
            TemplateNetworkCommand.class,
            UserTemplates.Cancel.class,
            UserTemplates.Delete.class,
            TemplateGcCommand.class,
            ImageCommands.Export.class,
            ImageCommands.Import.class,
            ImageCommands.Push.class
        },
        footer = {
            "",
            "A template is made once on a machine, for all its Cays. base is made by the first `cay up`, those of",
            "templates.prepare behind it in the background, others on request.",
            "",
            "Examples:",
            "  sudo ./cay template list",
            "  sudo ./cay template build code-interpreter-v1",
            "  ./cay template build . --name mine"
        })
final class TemplateCommand extends ListingCommand {
    TemplateCommand() {
        super(TemplateCommand::list);
    }

    private static int list(ConfigOptions options) {
        Root.require("template", "to look into the cache of templates", options.command("template list"));
        CayConfig config = options.config();
        var daemon = RunFile.find(config.runDir()).map(_ -> Api.of(options));
        lines(daemon, name -> HouseTemplates.of(config, name)).forEach(System.out::println);
        return 0;
    }

    /// Lines about all templates with their state. A running daemon is asked, because it may still work on a
    /// template whose tree is in the cache, or use an older build: only it knows what a create would answer.
    ///
    /// @param daemon empty when none runs
    static List<String> lines(Optional<Api> daemon, Function<String, HouseTemplate> templates) {
        var statuses = daemon.map(TemplateCommand::statuses);
        var house = HouseTemplate.names().stream()
                .map(name -> String.format(
                        Locale.ROOT,
                        "%-24s %s",
                        name,
                        statuses.map(all -> state(all.getOrDefault(name, "waiting"), templates.apply(name)))
                                .orElseGet(() -> state(templates.apply(name)))));
        var built = statuses.orElse(Map.of()).entrySet().stream()
                .filter(template -> template.getKey().indexOf('/') >= 0)
                .sorted(Map.Entry.comparingByKey())
                .map(template ->
                        String.format(Locale.ROOT, "%-24s %s", template.getKey(), userState(template.getValue())));
        return Stream.concat(house, built).toList();
    }

    /// The state of a user's template, whose first build may have failed.
    private static String userState(String status) {
        return switch (status) {
            case "error" -> "its newest build failed; `cay template logs` says why";
            case "waiting" -> "waits for its steps";
            default -> status;
        };
    }

    /// The states by name. Names of Cay's own templates belong to no team, so a team's template of the same name is
    /// not meant.
    private static Map<String, String> statuses(Api daemon) {
        var statuses = new HashMap<String, String>();
        for (var template : daemon.all("/v2/templates")) {
            for (var name : template.path("names")) {
                String status = template.path("buildStatus").asString("");
                boolean ready = status.equals("ready") && name.asString("").indexOf('/') >= 0;
                statuses.put(name.asString(""), ready ? byTags(daemon, name.asString("")) : status);
            }
        }
        // The list has only templates of the key's team; Cay's own belong to the first team.
        for (String name : HouseTemplate.names()) {
            if (!statuses.containsKey(name)) {
                findHouse(daemon, name).ifPresent(status -> statuses.put(name, status));
            }
        }
        return statuses;
    }

    /// A create that names no tag fails where no build has the default tag.
    private static String byTags(Api daemon, String name) {
        var tags = new TreeSet<String>();
        for (var tag : daemon.call("GET", UserTemplates.path(name) + "/tags", null)) {
            tags.add(name + ":" + tag.path("tag").asString(""));
        }
        return tags.isEmpty()
                ? "no build of it has a tag"
                : tags.contains(name + ":default") ? "ready" : "ready as " + String.join(", ", tags);
    }

    private static Optional<String> findHouse(Api daemon, String name) {
        try {
            var template = daemon.call("GET", UserTemplates.path(name), null);
            boolean house = StreamSupport.stream(template.path("names").spliterator(), false)
                    .anyMatch(each -> each.asString("").equals(name));
            return house
                    ? Optional.of(template.path("builds").path(0).path("status").asString(""))
                    : Optional.empty();
        } catch (CayException e) {
            if (e.kind() == ErrorKind.NOT_FOUND) {
                return Optional.empty();
            }
            throw e;
        }
    }

    private static String state(String status, HouseTemplate template) {
        String made = template.isBuilt() ? ", " + PoolCommand.size(template.size()) : "";
        return switch (status) {
            case "ready" -> "ready" + made;
            case "building" -> "being made: " + template.underWay().orElse("it waits or begins");
            case "error" -> "could not be made; `cay logs` says why, and the next create tries again";
            default -> made.isEmpty() ? notMade(template) : "not in use yet" + made;
        };
    }

    /// The state while no daemon runs.
    private static String state(HouseTemplate template) {
        return template.isBuilt() ? "made, " + PoolCommand.size(template.size()) : notMade(template);
    }

    private static String notMade(HouseTemplate template) {
        return template.underWay()
                .map(news -> "being made: " + news)
                .orElseGet(() -> "not made yet, about %,d MB".formatted(template.missingMB()));
    }

    @Command(
            name = "list",
            mixinStandardHelpOptions = true,
            description = "Show which templates there are, and whether sandboxes can be made from them now.",
            footer = {"", "Examples:", "  sudo ./cay template list"})
    static final class ListAll extends ListingCommand {
        ListAll() {
            super(TemplateCommand::list);
        }
    }
}
