package dev.cay.cli;

import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;

@Command(
        name = "secret",
        mixinStandardHelpOptions = true,
        description = "Keep secrets that sandboxes send and never see. Needs no root.",
        subcommands = {
            SecretCommand.Create.class,
            SecretCommand.ListAll.class,
            SecretCommand.Update.class,
            SecretCommand.Delete.class,
            SecretCommand.RotateKey.class,
            SecretCommand.RotateIdentity.class
        },
        footer = {
            "",
            "Values are read from standard input, so that they are in no history and no list of processes.",
            "",
            "Examples:",
            "  ./cay secret create openai --hosts api.openai.com < key",
            "  ./cay secret update openai < new-key",
            "  ./cay secret list",
            "  ./cay secret delete openai"
        })
final class SecretCommand implements Callable<Integer> {
    private static final String PATH = "/secrets";
    private static final String HOSTS = "cay.hosts";

    @Mixin
    private ApiOptions options = new ApiOptions();

    @Override
    public Integer call() {
        return list(options);
    }

    private static int list(ApiOptions options) {
        var all = options.api().all(PATH);
        ArrayNode array = JsonMapper.shared().createArrayNode().addAll(all);
        if (!options.json(array)) {
            if (all.isEmpty()) {
                System.out.println("no secrets");
            }
            all.forEach(SecretCommand::line);
        }
        return 0;
    }

    private static void line(JsonNode secret) {
        String hosts = secret.path("metadata").path(HOSTS).asString("");
        System.out.println(String.format(
                Locale.ROOT,
                "%s %-24s version %-3d %s",
                ApiOptions.text(secret, "secretID"),
                ApiOptions.text(secret, "name"),
                secret.path("currentVersion").asInt(0),
                hosts.isEmpty() ? "for any host" : "for " + hosts));
    }

    /// One line feed at the end is of the file, not of the value.
    private static String value() throws IOException {
        String value = new String(System.in.readAllBytes(), StandardCharsets.UTF_8).replaceAll("\\R\\z", "");
        if (value.isEmpty()) {
            throw new CayException(
                    ErrorKind.INVALID_ARGUMENT,
                    "standard input has no value; send it there: ... < file-with-the-value");
        }
        return value;
    }

    private static int print(ApiOptions options, JsonNode secret) {
        if (!options.json(secret)) {
            line(secret);
        }
        return 0;
    }

    @Command(
            name = "create",
            mixinStandardHelpOptions = true,
            description = "Keep a new secret, whose value comes from standard input.",
            footer = {"", "Example:", "  ./cay secret create openai --hosts api.openai.com < key"})
    static final class Create implements Callable<Integer> {
        @Mixin
        private ApiOptions options = new ApiOptions();

        @Parameters(index = "0", paramLabel = "NAME", description = "Letters, digits, '-' and '_'.")
        private String name = "";

        @Option(
                names = "--hosts",
                split = ",",
                paramLabel = "HOST",
                description = "The only hosts that may get it, like api.example.com or *.example.com (default: those"
                        + " that the rules of a sandbox name).")
        private List<String> hosts = List.of();

        @Override
        public Integer call() throws IOException {
            var body = new LinkedHashMap<String, Object>();
            body.put("name", name);
            body.put("value", value());
            if (!hosts.isEmpty()) {
                body.put("metadata", Map.of(HOSTS, String.join(",", hosts)));
            }
            return print(options, options.api().call("POST", PATH, body));
        }
    }

    @Command(
            name = "list",
            mixinStandardHelpOptions = true,
            description = "List secrets: id, name, version, hosts. Values cannot be read.")
    static final class ListAll implements Callable<Integer> {
        @Mixin
        private ApiOptions options = new ApiOptions();

        @Override
        public Integer call() {
            return list(options);
        }
    }

    /// A command about one secret.
    abstract static class OneSecret implements Callable<Integer> {
        @Mixin
        ApiOptions options = new ApiOptions();

        @Parameters(index = "0", paramLabel = "SECRET", description = "Name or id.")
        String secret = "";

        final JsonNode call(String method, @Nullable Map<String, Object> body) {
            if (!secret.matches("[A-Za-z0-9_-]{1,128}")) {
                throw new CayException(ErrorKind.INVALID_ARGUMENT, "there is no secret '%s'".formatted(secret));
            }
            return options.api().call(method, PATH + "/" + secret, body);
        }
    }

    @Command(
            name = "update",
            mixinStandardHelpOptions = true,
            description = "Give a secret another value, from standard input. Sandboxes send the new one from now on.")
    static final class Update extends OneSecret {
        @Override
        public Integer call() throws IOException {
            return print(options, call("POST", Map.of("value", value())));
        }
    }

    @Command(
            name = "delete",
            mixinStandardHelpOptions = true,
            description = "Delete a secret; requests that need it fail from now on.")
    static final class Delete extends OneSecret {
        @Override
        public Integer call() {
            var answer = call("DELETE", null);
            if (!options.json(answer)) {
                System.out.println(secret + " is gone");
            }
            return 0;
        }
    }

    @Command(
            name = "rotate-key",
            mixinStandardHelpOptions = true,
            description = "Seal the values of all teams with a new key (needs root). Values stay the same.")
    static final class RotateKey implements Callable<Integer> {
        @Mixin
        private ApiOptions options = new ApiOptions();

        @Override
        public Integer call() {
            var answer = options.apiOfOperator().call("POST", "/admin/secrets/rotate", Map.of());
            if (!options.json(answer)) {
                System.out.println("%d secrets are sealed with a new key"
                        .formatted(answer.path("secrets").asInt(0)));
            }
            return 0;
        }
    }

    @Command(
            name = "rotate-identity",
            mixinStandardHelpOptions = true,
            description =
                    "Sign identity tokens of sandboxes with a new key (needs root). Tokens of the old key stay good.")
    static final class RotateIdentity implements Callable<Integer> {
        @Mixin
        private ApiOptions options = new ApiOptions();

        @Override
        public Integer call() {
            var answer = options.apiOfOperator().call("POST", "/admin/identity/rotate", Map.of());
            if (!options.json(answer)) {
                System.out.println("identity tokens are signed with the key "
                        + answer.path("keyID").asString(""));
            }
            return 0;
        }
    }
}
