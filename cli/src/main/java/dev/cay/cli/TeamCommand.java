package dev.cay.cli;

import dev.cay.cli.local.ConfigOptions;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;

@Command(
        name = "team",
        mixinStandardHelpOptions = true,
        description = "List, make, limit and delete teams. Teams see nothing of each other. Needs root.",
        subcommands = {
            TeamCommand.ListAll.class,
            TeamCommand.Create.class,
            TeamCommand.Limit.class,
            TeamNetworkCommand.class,
            TeamCommand.Kill.class,
            TeamCommand.Delete.class,
            MemberCommand.class
        },
        footer = {
            "",
            "Examples:",
            "  sudo ./cay team create Research",
            "  sudo ./cay team list",
            "  sudo ./cay team limit research --profile pro --disk 50GB",
            "  sudo ./cay team network research --deny 0.0.0.0/0 --allow 203.0.113.0/24",
            "  sudo ./cay team kill research",
            "  sudo ./cay team delete research",
            "  sudo ./cay team member add research ann@example.org"
        })
final class TeamCommand extends ListingCommand {
    TeamCommand() {
        super(TeamCommand::list);
    }

    private static int list(ConfigOptions options) {
        for (JsonNode team : Api.ofOperator(options).call("GET", "/admin/teams", null)) {
            System.out.println(String.format(
                    Locale.ROOT,
                    "%-20s %-36s %3d keys %4d running  %s",
                    team.path("slug").asString(""),
                    team.path("teamID").asString(""),
                    team.path("keys").asInt(),
                    team.path("running").asInt(),
                    team.path("name").asString("")));
        }
        return 0;
    }

    /// The id of the team with this id, slug or name.
    static String id(Api operator, String wanted) {
        return TeamIds.require(operator, wanted);
    }

    @Command(name = "list", mixinStandardHelpOptions = true, description = "List all teams.")
    static final class ListAll extends ListingCommand {
        ListAll() {
            super(TeamCommand::list);
        }
    }

    @Command(
            name = "create",
            mixinStandardHelpOptions = true,
            description = "Make a team, and its first API key, which is printed once.")
    static final class Create implements Callable<Integer> {
        @Mixin
        private ConfigOptions options = new ConfigOptions();

        @Parameters(index = "0", paramLabel = "NAME", description = "What people know the team by.")
        private String name = "";

        @Option(
                names = "--slug",
                paramLabel = "SLUG",
                description = "Begins the full names of its templates (default: made from the name).")
        private @Nullable String slug;

        @Override
        public Integer call() {
            var body = new LinkedHashMap<String, Object>();
            body.put("name", name);
            if (slug != null) {
                body.put("slug", slug);
            }
            var operator = Api.ofOperator(options);
            var team = operator.call("POST", "/admin/teams", body);
            String id = team.path("teamID").asString("");
            var key = operator.call("POST", "/admin/teams/%s/api-keys".formatted(id), Map.of("name", "first key"));
            System.err.println("team %s, id %s; its first API key, which is shown only now:"
                    .formatted(team.path("slug").asString(""), id));
            System.out.println(key.path("key").asString(""));
            return 0;
        }
    }

    /// What is done to one team.
    abstract static class OfOne implements Callable<Integer> {
        @Mixin
        private ConfigOptions options = new ConfigOptions();

        @Parameters(index = "0", paramLabel = "TEAM", description = "Slug, name or id of the team.")
        private String team = "";

        @Override
        public Integer call() {
            var operator = Api.ofOperator(options);
            System.out.println(act(operator, id(operator, team)));
            return 0;
        }

        /// @return what is said of it
        abstract String act(Api operator, String id);
    }

    @Command(
            name = "limit",
            mixinStandardHelpOptions = true,
            description =
                    "Show or set what a team may use. Limits that are not given are not changed; `none` removes a limit.")
    static final class Limit implements Callable<Integer> {
        @Mixin
        private ConfigOptions options = new ConfigOptions();

        @Parameters(index = "0", paramLabel = "TEAM", description = "Slug, name or id of the team.")
        private String team = "";

        @Mixin
        private LimitOptions limits = new LimitOptions();

        @Option(
                names = "--default",
                description = "Take away what was set: `teams.limits` of the settings holds again.")
        private boolean reset;

        @Override
        public Integer call() {
            var body = limits.body();
            if (reset && !body.isEmpty()) {
                throw new CayException(ErrorKind.INVALID_ARGUMENT, "--default takes all limits away; give it alone");
            }
            var operator = Api.ofOperator(options);
            String path = "/admin/teams/%s/limits".formatted(id(operator, team));
            if (reset) {
                operator.call("DELETE", path, null);
            }
            LimitOptions.print(body.isEmpty() ? operator.call("GET", path, null) : operator.call("PUT", path, body));
            return 0;
        }
    }

    @Command(
            name = "kill",
            mixinStandardHelpOptions = true,
            description = "End all sandboxes of a team, paused ones too.")
    static final class Kill extends OfOne {
        @Override
        String act(Api operator, String id) {
            var done = operator.call("POST", "/admin/teams/%s/sandboxes/kill".formatted(id), Map.of());
            return "%d sandboxes ended, %d could not be"
                    .formatted(
                            done.path("killedCount").asInt(),
                            done.path("failedCount").asInt());
        }
    }

    @Command(
            name = "delete",
            mixinStandardHelpOptions = true,
            description = "Delete a team that has no sandboxes and templates any more, and revoke its keys.")
    static final class Delete extends OfOne {
        @Override
        String act(Api operator, String id) {
            operator.call("DELETE", "/admin/teams/" + id, null);
            return "the team is deleted";
        }
    }
}
