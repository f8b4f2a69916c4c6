package dev.cay.cli;

import dev.cay.cli.local.ConfigOptions;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import java.util.stream.StreamSupport;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;

@Command(
        name = "person",
        mixinStandardHelpOptions = true,
        description = "List and remove people who sign in. Needs root.",
        subcommands = {PersonCommand.ListAll.class, PersonCommand.Remove.class},
        footer = {
            "",
            "`cay team member add` adds people.",
            "",
            "Examples:",
            "  sudo ./cay person list",
            "  sudo ./cay person remove bob@example.org"
        })
final class PersonCommand extends ListingCommand {
    PersonCommand() {
        super(PersonCommand::list);
    }

    private static int list(ConfigOptions options) {
        var people = Api.ofOperator(options).call("GET", "/admin/people", null);
        if (people.isEmpty()) {
            System.out.println("no people; `cay team member add TEAM EMAIL` adds one");
        }
        for (JsonNode person : people) {
            System.out.println(String.format(
                    Locale.ROOT,
                    "%-40s %s",
                    person.path("email").asString(""),
                    StreamSupport.stream(person.path("teams").spliterator(), false)
                            .map(team -> team.asString(""))
                            .collect(Collectors.joining(", "))));
        }
        return 0;
    }

    @Command(name = "list", mixinStandardHelpOptions = true, description = "List all people and their teams.")
    static final class ListAll extends ListingCommand {
        ListAll() {
            super(PersonCommand::list);
        }
    }

    @Command(
            name = "remove",
            mixinStandardHelpOptions = true,
            description = "Remove a person from all teams, and end all that they are signed in with.")
    static final class Remove implements Callable<Integer> {
        @Mixin
        private ConfigOptions options = new ConfigOptions();

        @Parameters(index = "0", paramLabel = "EMAIL", description = "The person's e-mail address.")
        private String email = "";

        @Option(
                names = "--sandboxes",
                description =
                        "Renew the tokens of sandboxes that they could open, and cut connections with the old ones.")
        private boolean sandboxes;

        @Override
        public Integer call() {
            String path = MemberCommand.path("/admin/people", email) + (sandboxes ? MemberCommand.RENEWING : "");
            var answer = Api.ofOperator(options).call("DELETE", path, null);
            System.out.println("%s is removed%s".formatted(email, MemberCommand.kept(answer)));
            return 0;
        }
    }
}
