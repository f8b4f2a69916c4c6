package dev.cay.cli;

import static dev.cay.cli.WebhookOptions.text;

import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.util.ArrayList;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// What arrived at a webhook, and sending it again.
final class WebhookDeliveryCommands {
    private WebhookDeliveryCommands() {}

    @Command(
            name = "deliveries",
            mixinStandardHelpOptions = true,
            description =
                    "List what was sent during the last 7 days, newest first, with the last attempt of each event.",
            footer = {"", "Examples:", "  ./cay webhook deliveries ID --failed", "  ./cay webhook deliveries ID -o json"
            })
    static final class Deliveries extends OneWebhook {
        @Option(names = "--failed", description = "Only events whose last attempt failed.")
        private boolean failed;

        @Option(names = "--limit", paramLabel = "N", description = "How many events, up to 100 (default: 25).")
        private int limit = 25;

        @Override
        public Integer call() {
            var page = page(limit, "");
            var found = new ArrayList<JsonNode>();
            page.path("data").forEach(found::add);
            // A page may end before it is full.
            while (found.size() < limit && !cursor(page).isEmpty()) {
                page = page(limit - found.size(), "&cursor=" + cursor(page));
                page.path("data").forEach(found::add);
            }
            var all = JsonMapper.shared().createObjectNode();
            all.putArray("data").addAll(found);
            all.set("nextCursor", page.path("nextCursor"));
            if (options.json(all)) {
                return 0;
            }
            if (found.isEmpty()) {
                System.out.println(failed ? "no event failed" : "nothing was sent");
            }
            found.forEach(this::line);
            return 0;
        }

        private JsonNode page(int most, String from) {
            String only = failed ? "&deliveryStatus=failed" : "";
            return call("GET", "/deliveries?limit=%d%s%s".formatted(most, only, from), null);
        }

        private static String cursor(JsonNode page) {
            var cursor = page.path("nextCursor");
            return cursor.isString() ? cursor.stringValue() : "";
        }

        private void line(JsonNode group) {
            var attempts = group.path("attempts");
            var last = attempts.path(attempts.size() - 1);
            System.out.println(String.format(
                    Locale.ROOT,
                    "%s %s %s %s %s (%d)%s",
                    text(last, "timestamp"),
                    text(group, "eventId"),
                    text(group, "eventType").replace("sandbox.lifecycle.", ""),
                    text(group, "sandboxId"),
                    text(last, "status"),
                    attempts.size(),
                    last.has("errorMessage") ? " " + text(last, "errorMessage") : ""));
        }
    }

    @Command(
            name = "redeliver",
            mixinStandardHelpOptions = true,
            description = "Send an event again, or all that were given up.",
            footer = {"", "Examples:", "  ./cay webhook redeliver ID EVENT", "  ./cay webhook redeliver ID --failed"})
    static final class Redeliver extends OneWebhook {
        @Parameters(index = "1", arity = "0..1", paramLabel = "EVENT", description = "Id of an event that was sent.")
        private @Nullable String event;

        @Option(names = "--failed", description = "All events that were given up, in their order.")
        private boolean failed;

        @Override
        public Integer call() {
            if ((event == null) != failed) {
                throw new CayException(ErrorKind.INVALID_ARGUMENT, "give either the id of an event, or --failed");
            }
            var answer =
                    call("POST", "/redeliveries", event == null ? Map.of("failed", true) : Map.of("eventId", event));
            if (!options.json(answer)) {
                int left = answer.path("left").asInt(0);
                System.out.println("%d events are sent again%s"
                        .formatted(
                                answer.path("events").asInt(0),
                                left == 0 ? "" : "; %d more can be sent when these have arrived".formatted(left)));
            }
            return 0;
        }
    }

    @Command(
            name = "test",
            mixinStandardHelpOptions = true,
            description = "Send a test to the receiver now and show its answer; it ends with 1 if that fails.")
    static final class Test extends OneWebhook {
        @Override
        public Integer call() {
            var result = call("POST", "/test", null);
            boolean arrived = text(result, "status").equals("success");
            if (!options.json(result)) {
                String answer = result.path("responseHttpStatusCode").asString("no");
                System.out.println(
                        arrived
                                ? "it arrived; the receiver answered %s after %d ms"
                                        .formatted(
                                                answer,
                                                result.path("durationMs").asInt(0))
                                : "it did not arrive: " + text(result, "errorMessage"));
            }
            return arrived ? 0 : 1;
        }
    }
}
