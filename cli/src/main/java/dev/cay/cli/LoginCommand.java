package dev.cay.cli;

import dev.cay.cli.local.ConfigOptions;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

@Command(
        name = "login",
        mixinStandardHelpOptions = true,
        description = "Print a link that signs a browser in, once and within ten minutes. Needs root.",
        footer = {
            "",
            "A browser that opens the link is signed in as that person. `e2b auth login` asks for the link when the browser is not signed in.",
            "Without EMAIL it is for you, as a member of the first team.",
            "",
            "Examples:",
            "  sudo ./cay login",
            "  sudo ./cay login ann@example.org      # a member of a team, see `cay team member add`"
        })
final class LoginCommand implements Callable<Integer> {
    @Mixin
    private ConfigOptions options = new ConfigOptions();

    @Parameters(
            index = "0",
            arity = "0..1",
            paramLabel = "EMAIL",
            description = "The person's e-mail address (default: YOUR-USER-NAME@localhost).")
    private @Nullable String email;

    @Override
    public Integer call() {
        String person = email == null ? ownEmail() : email;
        var link = Api.ofOperator(options)
                .call("POST", MemberCommand.path("/admin/people", person) + "/link", Map.of("first", email == null));
        System.err.println("open this in a browser within %d minutes, to sign in as %s:"
                .formatted(link.path("expiresIn").asInt() / 60, person));
        System.out.println(link.path("url").asString(""));
        return 0;
    }

    private static String ownEmail() {
        String user = System.getenv().getOrDefault("SUDO_USER", System.getProperty("user.name"));
        return user + "@localhost";
    }
}
