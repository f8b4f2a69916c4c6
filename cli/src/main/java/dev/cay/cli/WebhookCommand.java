package dev.cay.cli;

import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
        name = "webhook",
        mixinStandardHelpOptions = true,
        description = "Send events of sandboxes to receivers, see what arrived, and send it again. Needs no root.",
        subcommands = {
            WebhookCommand.Create.class,
            WebhookCommand.ListAll.class,
            WebhookCommand.Show.class,
            WebhookCommand.Update.class,
            WebhookCommand.Delete.class,
            WebhookDeliveryCommands.Deliveries.class,
            WebhookDeliveryCommands.Redeliver.class,
            WebhookDeliveryCommands.Test.class
        },
        footer = {
            "",
            "Receivers in your own network must be named in the setting webhooks.allow.",
            "",
            "Examples:",
            "  ./cay webhook create https://hooks.example.org/cay --name billing --events created,killed",
            "  ./cay webhook test ID",
            "  ./cay webhook deliveries ID --failed",
            "  ./cay webhook redeliver ID --failed"
        })
final class WebhookCommand implements Callable<Integer> {
    private static final List<String> EVENTS =
            List.of("created", "updated", "paused", "resumed", "killed", "checkpointed");
    private static final String PREFIX = "sandbox.lifecycle.";
    private static final int SECRET_BYTES = 32;

    @Mixin
    private WebhookOptions options = new WebhookOptions();

    @Override
    public Integer call() {
        return list(options);
    }

    private static int list(WebhookOptions options) {
        var all = options.api().call("GET", WebhookOptions.PATH, null);
        if (!options.json(all)) {
            if (all.isEmpty()) {
                System.out.println("no webhooks");
            }
            all.forEach(options::line);
        }
        return 0;
    }

    /// The contract's names of events, of which users type the last word.
    static List<String> events(List<String> words) {
        for (String word : words) {
            if (!EVENTS.contains(word.replace(PREFIX, ""))) {
                throw new CayException(
                        ErrorKind.INVALID_ARGUMENT,
                        "--events has %s; there are %s".formatted(word, String.join(", ", EVENTS)));
            }
        }
        return words.stream().map(word -> PREFIX + word.replace(PREFIX, "")).toList();
    }

    static String secret(InputStream in) throws IOException {
        String secret = new String(in.readAllBytes(), StandardCharsets.UTF_8).strip();
        if (secret.isEmpty()) {
            throw new CayException(ErrorKind.INVALID_ARGUMENT, "standard input has no secret");
        }
        return secret;
    }

    @Command(
            name = "create",
            mixinStandardHelpOptions = true,
            description = "Send events to an address from now on; prints the id, and the secret if it was made here.",
            footer = {
                "",
                "Examples:",
                "  ./cay webhook create https://hooks.example.org/cay --name all",
                "  ./cay webhook create https://hooks.example.org/cay --events killed --secret-stdin < secret"
            })
    static final class Create implements Callable<Integer> {
        @Mixin
        private WebhookOptions options = new WebhookOptions();

        @Parameters(index = "0", paramLabel = "URL", description = "Address of the receiver.")
        private String url = "";

        @Option(names = "--name", paramLabel = "NAME", description = "A name for it (default: its address).")
        private @Nullable String name;

        @Option(
                names = "--events",
                split = ",",
                paramLabel = "EVENT",
                description = "created, updated, paused, resumed, killed, checkpointed (default: all).")
        private List<String> events = EVENTS;

        @Option(names = "--disabled", description = "Send nothing yet.")
        private boolean disabled;

        @Option(
                names = "--secret-stdin",
                description =
                        "Read the secret of the signature from standard input; otherwise one is made and printed.")
        private boolean secretStdin;

        @Override
        public Integer call() throws IOException {
            String secret = secretStdin ? secret(System.in) : random();
            var body = new LinkedHashMap<String, Object>();
            body.put("name", name == null ? url : name);
            body.put("url", url);
            body.put("events", events(events));
            body.put("enabled", !disabled);
            body.put("signatureSecret", secret);
            var made = options.api().call("POST", WebhookOptions.PATH, body);
            if (!options.json(made)) {
                System.out.println(WebhookOptions.text(made, "id"));
            }
            if (!secretStdin) {
                System.err.println("secret of its signatures, which is shown this once: " + secret);
            }
            return 0;
        }

        private static String random() {
            byte[] bytes = new byte[SECRET_BYTES];
            new SecureRandom().nextBytes(bytes);
            return HexFormat.of().formatHex(bytes);
        }
    }

    @Command(name = "list", mixinStandardHelpOptions = true, description = "List webhooks: id, state, name, address.")
    static final class ListAll implements Callable<Integer> {
        @Mixin
        private WebhookOptions options = new WebhookOptions();

        @Override
        public Integer call() {
            return list(options);
        }
    }

    @Command(
            name = "show",
            mixinStandardHelpOptions = true,
            description = "Show a webhook, and why it is off if it is.")
    static final class Show extends OneWebhook {
        @Override
        public Integer call() {
            var webhook = call("GET", "", null);
            if (!options.json(webhook)) {
                options.details(webhook);
            }
            return 0;
        }
    }

    @Command(
            name = "update",
            mixinStandardHelpOptions = true,
            description = "Change a webhook, or switch it on or off.",
            footer = {
                "",
                "Examples:",
                "  ./cay webhook update ID --enable",
                "  ./cay webhook update ID --url https://other.example.org/ --events killed"
            })
    static final class Update extends OneWebhook {
        @Option(names = "--url", paramLabel = "URL", description = "Another address.")
        private @Nullable String url;

        @Option(names = "--name", paramLabel = "NAME", description = "Another name.")
        private @Nullable String name;

        @Option(names = "--events", split = ",", paramLabel = "EVENT", description = "Other events.")
        private List<String> events = List.of();

        @Option(names = "--enable", description = "Send events again.")
        private boolean enable;

        @Option(names = "--disable", description = "Send nothing until it is enabled.")
        private boolean disable;

        @Option(names = "--secret-stdin", description = "Read another secret from standard input.")
        private boolean secretStdin;

        @Override
        public Integer call() throws IOException {
            var body = new LinkedHashMap<String, Object>();
            if (url != null) {
                body.put("url", url);
            }
            if (name != null) {
                body.put("name", name);
            }
            if (!events.isEmpty()) {
                body.put("events", events(events));
            }
            if (enable != disable) {
                body.put("enabled", enable);
            }
            if (secretStdin) {
                body.put("signatureSecret", secret(System.in));
            }
            if (body.isEmpty()) {
                throw new CayException(
                        ErrorKind.INVALID_ARGUMENT,
                        "say what to change: --url, --name, --events, --secret-stdin, and either --enable or --disable");
            }
            var webhook = call("PATCH", "", body);
            if (!options.json(webhook)) {
                options.details(webhook);
            }
            return 0;
        }
    }

    @Command(
            name = "delete",
            mixinStandardHelpOptions = true,
            description = "Delete a webhook; what was not sent yet is not sent.")
    static final class Delete extends OneWebhook {
        @Override
        public Integer call() {
            var answer = call("DELETE", "", null);
            if (!options.json(answer)) {
                System.out.println(id + " is gone");
            }
            return 0;
        }
    }
}
