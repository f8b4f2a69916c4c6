package dev.cay.cli;

import dev.cay.cli.local.ConfigOptions;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import tools.jackson.databind.JsonNode;

@Command(
        name = "member",
        mixinStandardHelpOptions = true,
        description = "List, add and remove the people who are in a team. Needs root.",
        subcommands = {MemberCommand.ListAll.class, MemberCommand.Add.class, MemberCommand.Remove.class},
        footer = {
            "",
            "A person is known by an e-mail address. They sign in with a link of `cay login`, or with the issuer",
            "that signIn.issuer names.",
            "",
            "Examples:",
            "  sudo ./cay team member add research ann@example.org",
            "  sudo ./cay team member add research bob@example.org --scope read",
            "  sudo ./cay team member list research",
            "  sudo ./cay team member remove research bob@example.org"
        })
final class MemberCommand implements Callable<Integer> {
    @Spec
    private @Nullable CommandSpec spec;

    @Override
    public Integer call() {
        var known = Objects.requireNonNull(spec);
        throw new ParameterException(known.commandLine(), "say what to do: list, add or remove");
    }

    /// Has the tokens of sandboxes renewed with a change.
    static final String RENEWING = "?sandboxes=true";

    /// The path of a person below another one.
    static String path(String parent, String email) {
        return parent + "/" + Api.encoded(email);
    }

    /// Says which keys stay that a person knows who lost rights, and what became of sandboxes.
    static String kept(JsonNode answer) {
        var text = new StringBuilder();
        if (answer.has("renewedSandboxes")) {
            text.append("; %d sandboxes have new tokens"
                    .formatted(answer.path("renewedSandboxes").asInt()));
        }
        for (JsonNode key : answer.path("keptKeys")) {
            text.append(
                    "%nthey made the API key '%s' for team %s, which is still valid; revoke it with: cay key revoke %s --team %s"
                            .formatted(
                                    key.path("name").asString(""),
                                    key.path("teamID").asString(""),
                                    key.path("id").asString(""),
                                    key.path("teamID").asString("")));
        }
        return text.toString();
    }

    /// Which team it is about.
    static final class Which {
        @Mixin
        private ConfigOptions options = new ConfigOptions();

        @Parameters(index = "0", paramLabel = "TEAM", description = "Slug, name or id of the team.")
        private String team = "";

        JsonNode call(String method, @Nullable String email, @Nullable Map<String, Object> body) {
            return call(method, email, false, body);
        }

        /// @param sandboxes whether the tokens of sandboxes are renewed that the person could open
        JsonNode call(String method, @Nullable String email, boolean sandboxes, @Nullable Map<String, Object> body) {
            var operator = Api.ofOperator(options);
            String all = "/admin/teams/%s/members".formatted(TeamIds.require(operator, team));
            return operator.call(method, email == null ? all : path(all, email) + (sandboxes ? RENEWING : ""), body);
        }
    }

    @Command(name = "list", mixinStandardHelpOptions = true, description = "List the members of a team.")
    static final class ListAll implements Callable<Integer> {
        @Mixin
        private Which which = new Which();

        @Override
        public Integer call() {
            for (JsonNode member : which.call("GET", null, null)) {
                System.out.println(String.format(
                        Locale.ROOT,
                        "%-40s %s",
                        member.path("email").asString(""),
                        member.path("scope").asString("")));
            }
            return 0;
        }
    }

    @Command(
            name = "add",
            mixinStandardHelpOptions = true,
            description = "Add a person to a team, or change what they may do there.")
    static final class Add implements Callable<Integer> {
        @Mixin
        private Which which = new Which();

        @Parameters(index = "1", paramLabel = "EMAIL", description = "The person's e-mail address.")
        private String email = "";

        @Option(
                names = "--scope",
                paramLabel = "SCOPE",
                description = "What they may do: all, read, sandboxes or templates (default: all).")
        private String scope = "all";

        @Option(
                names = "--sandboxes",
                description = "If they may do less than before: renew the tokens of sandboxes that they could open.")
        private boolean sandboxes;

        @Override
        public Integer call() {
            var member = which.call("PUT", email, sandboxes, Map.of("scope", scope));
            System.out.println("%s is a member and may do: %s%s"
                    .formatted(
                            member.path("email").asString(""),
                            member.path("scope").asString(""),
                            kept(member)));
            return 0;
        }
    }

    @Command(
            name = "remove",
            mixinStandardHelpOptions = true,
            description =
                    "Remove a person from a team, and revoke the keys that were made for them when they signed in.")
    static final class Remove implements Callable<Integer> {
        @Mixin
        private Which which = new Which();

        @Parameters(index = "1", paramLabel = "EMAIL", description = "The person's e-mail address.")
        private String email = "";

        @Option(
                names = "--sandboxes",
                description =
                        "Renew the tokens of sandboxes that they could open, and cut connections with the old ones.")
        private boolean sandboxes;

        @Override
        public Integer call() {
            var answer = which.call("DELETE", email, sandboxes, null);
            System.out.println("%s is no member any more%s".formatted(email, kept(answer)));
            return 0;
        }
    }
}
