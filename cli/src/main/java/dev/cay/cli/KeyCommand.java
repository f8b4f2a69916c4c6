package dev.cay.cli;

import dev.cay.cli.local.ConfigOptions;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;

@Command(
        name = "key",
        mixinStandardHelpOptions = true,
        description = "List, make, limit, rotate and revoke API keys.",
        subcommands = {
            KeyCommand.ListAll.class,
            KeyCommand.Create.class,
            KeyCommand.Limit.class,
            KeyCommand.Rotate.class,
            KeyCommand.Revoke.class
        },
        footer = {
            "",
            "Without --team it is about the team of your own key. With --team it needs root.",
            "",
            "Examples:",
            "  ./cay key list",
            "  ./cay key create ci --scope sandboxes --expires 30d",
            "  sudo ./cay key create agent --team research --scope sandbox:ID",
            "  ./cay key limit ID --sandboxes 5",
            "  ./cay key rotate ID --overlap 1h",
            "  ./cay key revoke ID"
        })
final class KeyCommand implements Callable<Integer> {
    private static final Pattern TIME = Pattern.compile("(\\d{1,6})([smhd])");

    @Mixin
    private Whose whose = new Whose();

    @Override
    public Integer call() {
        return list(whose);
    }

    /// Whose keys it is about.
    static final class Whose {
        @Mixin
        private ConfigOptions options = new ConfigOptions();

        @Option(names = "--team", paramLabel = "TEAM", description = "Slug, name or id of a team. Needs root.")
        private @Nullable String team;

        JsonNode call(String method, String path, @Nullable Map<String, Object> body) {
            if (team == null) {
                return Api.of(options).call(method, "/api-keys" + path, body);
            }
            var operator = Api.ofOperator(options);
            String id = TeamCommand.id(operator, team);
            return operator.call(method, "/admin/teams/%s/api-keys%s".formatted(id, path), body);
        }
    }

    private static int list(Whose whose) {
        for (JsonNode key : whose.call("GET", "", null)) {
            System.out.println(String.format(
                    Locale.ROOT,
                    "%s  e2b_%s...%s  %-10s %s  used %s%s",
                    key.path("id").asString(""),
                    key.at("/mask/maskedValuePrefix").asString(""),
                    key.at("/mask/maskedValueSuffix").asString(""),
                    key.path("scope").asString(""),
                    key.path("name").asString(""),
                    key.path("lastUsed").asString("never"),
                    key.path("expiresAt").isString()
                            ? ", until " + key.path("expiresAt").asString()
                            : ""));
        }
        return 0;
    }

    private static int print(JsonNode made) {
        System.err.println("key %s, id %s; the key is shown only now:"
                .formatted(made.path("name").asString(""), made.path("id").asString("")));
        System.out.println(made.path("key").asString(""));
        return 0;
    }

    @Command(name = "list", mixinStandardHelpOptions = true, description = "List the keys of a team.")
    static final class ListAll implements Callable<Integer> {
        @Mixin
        private Whose whose = new Whose();

        @Override
        public Integer call() {
            return list(whose);
        }
    }

    @Command(name = "create", mixinStandardHelpOptions = true, description = "Make a key and print it, once.")
    static final class Create implements Callable<Integer> {
        @Mixin
        private Whose whose = new Whose();

        @Parameters(index = "0", paramLabel = "NAME", description = "What people know the key by.")
        private String name = "";

        @Option(
                names = "--scope",
                paramLabel = "SCOPE",
                description = "What it may do: all, read, sandboxes, templates, or sandbox:ID (default: all).")
        private String scope = "all";

        @Option(
                names = "--expires",
                paramLabel = "TIME",
                description = "When it ends, from now: 12h, 30d (default: never).")
        private @Nullable String expires;

        @Override
        public Integer call() {
            var body = new LinkedHashMap<String, Object>();
            body.put("name", name);
            body.put("scope", scope);
            if (expires != null) {
                body.put("expiresAt", Instant.now().plus(duration(expires)).toString());
            }
            return print(whose.call("POST", "", body));
        }
    }

    @Command(
            name = "limit",
            mixinStandardHelpOptions = true,
            description =
                    "Show or set what one key may use, within the limits of its team. A limited key makes no other keys.")
    static final class Limit implements Callable<Integer> {
        @Mixin
        private Whose whose = new Whose();

        @Parameters(index = "0", paramLabel = "ID", description = "Id of the key, as `cay key list` shows it.")
        private String id = "";

        @Mixin
        private LimitOptions limits = new LimitOptions();

        @Override
        public Integer call() {
            var body = limits.body();
            String path = "/%s/limits".formatted(Api.encoded(id));
            LimitOptions.print(body.isEmpty() ? whose.call("GET", path, null) : whose.call("PUT", path, body));
            return 0;
        }
    }

    @Command(
            name = "rotate",
            mixinStandardHelpOptions = true,
            description = "Make a key in the place of another one, which ends.")
    static final class Rotate implements Callable<Integer> {
        @Mixin
        private Whose whose = new Whose();

        @Parameters(index = "0", paramLabel = "ID", description = "Id of the key, as `cay key list` shows it.")
        private String id = "";

        @Option(
                names = "--overlap",
                paramLabel = "TIME",
                description = "How long the old one is good beside the new one (default: not at all).")
        private @Nullable String overlap;

        @Override
        public Integer call() {
            long seconds = overlap == null ? 0 : duration(overlap).toSeconds();
            return print(
                    whose.call("POST", "/%s/rotate".formatted(Api.encoded(id)), Map.of("overlapSeconds", seconds)));
        }
    }

    @Command(
            name = "revoke",
            mixinStandardHelpOptions = true,
            description = "Refuse a key from now on, and cut what is under way with it.")
    static final class Revoke implements Callable<Integer> {
        @Mixin
        private Whose whose = new Whose();

        @Parameters(index = "0", paramLabel = "ID", description = "Id of the key, as `cay key list` shows it.")
        private String id = "";

        @Option(
                names = "--sandboxes",
                description =
                        "Renew the tokens of sandboxes that it could open, and cut connections with the old ones.")
        private boolean sandboxes;

        @Override
        public Integer call() {
            if (!sandboxes) {
                whose.call("DELETE", "/" + Api.encoded(id), null);
                System.out.println(id + " is revoked");
                return 0;
            }
            var answer = whose.call("DELETE", "/%s?sandboxes=true".formatted(Api.encoded(id)), null);
            System.out.println("%s is revoked; %d sandboxes have new tokens"
                    .formatted(id, answer.path("renewedSandboxes").asInt()));
            return 0;
        }
    }

    static Duration duration(String text) {
        var found = TIME.matcher(text);
        if (!found.matches()) {
            throw new CayException(
                    ErrorKind.INVALID_ARGUMENT, "'%s' is no time; write one like 90s, 30m, 12h or 30d".formatted(text));
        }
        long count = Long.parseLong(found.group(1));
        return switch (found.group(2)) {
            case "s" -> Duration.ofSeconds(count);
            case "m" -> Duration.ofMinutes(count);
            case "h" -> Duration.ofHours(count);
            default -> Duration.ofDays(count);
        };
    }
}
