package dev.cay.server.webhook;

import dev.cay.web.Deadline;
import dev.cay.web.Dialer;
import dev.cay.web.Lines;
import dev.cay.web.UrlOrigin;
import dev.cay.web.WebAnswer;
import dev.cay.wire.CayException;
import dev.cay.wire.TeamId;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.InstantSource;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.UUID;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/// Sends one body to the receiver of a webhook and returns the result. The receiver may be hostile.
///
/// Each call has a connection of its own, to an address that the dialer has looked up and checked for this call.
/// Redirects count as failures and are not followed.
final class WebhookCall {
    private static final int BODY_KEPT = 1024;
    private static final int HEADERS_KEPT = 2048;
    private static final int MESSAGE_KEPT = 300;
    private static final String STRUCK_OUT = "[hidden]";

    private final Function<TeamId, Lines> lines;
    private final SigningSecrets secrets;
    private final InstantSource clock;
    private final Duration limit;

    /// @param lines to hosts that a team chose
    /// @param limit time for request and answer, after the connection is made
    WebhookCall(Function<TeamId, Lines> lines, SigningSecrets secrets, InstantSource clock, Duration limit) {
        this.lines = lines;
        this.secrets = secrets;
        this.clock = clock;
        this.limit = limit;
    }

    /// The answer, or the reason why there is none.
    private record Outcome(
            @Nullable Integer status,
            @Nullable Map<String, String> headers,
            @Nullable String body,
            Attempt.@Nullable ErrorClass error,
            @Nullable String message) {
        static Outcome failed(Attempt.ErrorClass error, @Nullable String message) {
            String text = message == null ? "no reason is known" : message;
            return new Outcome(null, null, null, error, cut(text, MESSAGE_KEPT));
        }
    }

    Attempt send(Webhook webhook, String eventId, String body) {
        String id = UUID.randomUUID().toString();
        var headers = headers(webhook, id);
        var startedAt = clock.instant();
        long began = System.nanoTime();
        var outcome = send(webhook, headers, body);
        var took = Duration.ofNanos(System.nanoTime() - began);
        headers.put("e2b-signature", STRUCK_OUT);
        return new Attempt(
                id,
                webhook.id(),
                eventId,
                startedAt,
                took,
                webhook.url(),
                headers,
                outcome.status(),
                outcome.headers(),
                outcome.body(),
                outcome.error(),
                outcome.message());
    }

    private static Map<String, String> headers(Webhook webhook, String id) {
        var headers = new LinkedHashMap<String, String>();
        headers.put("Content-Type", "application/json");
        headers.put("User-Agent", "cay-webhooks");
        headers.put("Accept-Encoding", "identity");
        headers.put("Connection", "close");
        headers.put("e2b-webhook-id", webhook.id());
        headers.put("e2b-delivery-id", id);
        headers.put("e2b-signature-version", "v1");
        return headers;
    }

    private Outcome send(Webhook webhook, Map<String, String> headers, String body) {
        try {
            headers.put("e2b-signature", secrets.sign(webhook, body));
        } catch (CayException e) {
            return Outcome.failed(Attempt.ErrorClass.SIGNATURE_ERROR, e.userMessage());
        }
        try {
            return exchange(webhook, headers, body.getBytes(StandardCharsets.UTF_8));
        } catch (CayException | IllegalArgumentException e) {
            String why = e instanceof CayException known ? known.userMessage() : e.getMessage();
            return Outcome.failed(Attempt.ErrorClass.REQUEST_ERROR, why);
        } catch (UnknownHostException _) {
            return Outcome.failed(Attempt.ErrorClass.DNS_ERROR, "the host name is not known");
        } catch (SocketTimeoutException _) {
            return Outcome.failed(
                    Attempt.ErrorClass.TIMEOUT,
                    "the receiver did not answer within %d seconds".formatted(limit.toSeconds()));
        } catch (IOException e) {
            return Outcome.failed(Attempt.ErrorClass.TRANSPORT_ERROR, Dialer.why(e));
        }
    }

    private Outcome exchange(Webhook webhook, Map<String, String> headers, byte[] body) throws IOException {
        var url = URI.create(webhook.url());
        try (var line = lines.apply(webhook.teamId()).open(UrlOrigin.of(url));
                var deadline = Deadline.start(limit, line)) {
            try {
                line.send("POST", UrlOrigin.target(url), headers, body);
                var answer = WebAnswer.read(line);
                return outcome(answer);
            } catch (IOException e) {
                throw deadline.passed() ? new SocketTimeoutException("no answer in time") : e;
            }
        }
    }

    /// The status decides. The body is for people to read.
    private static Outcome outcome(WebAnswer answer) {
        var headers = new LinkedHashMap<String, String>();
        int left = HEADERS_KEPT;
        for (var header : answer.headers().entrySet()) {
            left -= header.getKey().length() + header.getValue().length();
            if (left > 0) {
                headers.put(clean(header.getKey()), clean(header.getValue()));
            }
        }
        String body = beginning(answer);
        return answer.succeeded()
                ? new Outcome(answer.status(), headers, body, null, null)
                : new Outcome(
                        answer.status(),
                        headers,
                        body,
                        Attempt.ErrorClass.HTTP_ERROR,
                        "the receiver answered %d%s"
                                .formatted(answer.status(), answer.redirects() ? "; redirects are not followed" : ""));
    }

    /// A receiver that answers and then breaks off or hangs has answered.
    private static String beginning(WebAnswer answer) {
        var text = new ByteArrayOutputStream();
        var buffer = new byte[BODY_KEPT];
        try {
            while (text.size() < BODY_KEPT) {
                int count = answer.content().read(buffer, 0, BODY_KEPT - text.size());
                if (count < 0) {
                    break;
                }
                text.write(buffer, 0, count);
            }
        } catch (IOException _) {
            // What there is will do.
        }
        return clean(text.toString(StandardCharsets.UTF_8));
    }

    /// PostgreSQL keeps no text with a zero in it.
    private static String clean(String text) {
        return text.replace('\0', '\uFFFD');
    }

    private static String cut(String text, int most) {
        return clean(text.length() <= most ? text : text.substring(0, most) + "...");
    }
}
