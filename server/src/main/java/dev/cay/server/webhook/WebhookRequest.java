package dev.cay.server.webhook;

import dev.cay.server.event.LifecycleEvent;
import dev.cay.server.request.RequestBody;
import java.net.URI;
import java.net.URISyntaxException;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// The body of a webhook request, checked field by field. Null means that the field is absent.
record WebhookRequest(
        @Nullable String name,
        @Nullable String url,
        @Nullable List<String> events,
        @Nullable String secret,
        @Nullable Boolean enabled) {
    private static final int LONGEST_NAME = 200;
    private static final int LONGEST_URL = 2048;
    private static final int LONGEST_SECRET = 1024;
    private static final int LAST_PORT = 65_535;

    static WebhookRequest read(RequestBody body) {
        return new WebhookRequest(name(body), url(body), events(body), secret(body), body.bool("enabled"));
    }

    /// Requires the fields of a new webhook.
    void requireAll() {
        require(name, "name");
        require(url, "url");
        require(events, "events");
        require(secret, "signatureSecret");
    }

    private static void require(@Nullable Object value, String field) {
        if (value == null) {
            throw RequestBody.invalid("'%s' is required".formatted(field));
        }
    }

    private static @Nullable String name(RequestBody body) {
        String name = body.text("name");
        if (name != null
                && (name.isBlank()
                        || name.length() > LONGEST_NAME
                        || name.chars().anyMatch(Character::isISOControl))) {
            throw RequestBody.invalid(
                    "'name' must have 1 to %d characters and no control characters".formatted(LONGEST_NAME));
        }
        return name;
    }

    private static @Nullable String url(RequestBody body) {
        String url = body.text("url");
        if (url == null) {
            return null;
        }
        try {
            var parsed = new URI(url);
            String scheme = String.valueOf(parsed.getScheme()).toLowerCase(Locale.ROOT);
            if (url.length() > LONGEST_URL
                    || !scheme.matches("https?")
                    || parsed.getHost() == null
                    || parsed.getPort() == 0
                    || parsed.getPort() > LAST_PORT
                    || parsed.getRawFragment() != null) {
                throw wrongUrl();
            }
            if (parsed.getRawUserInfo() != null) {
                throw RequestBody.invalid(
                        "'url' must not hold a user or password: it is shown in lists; put a token in the path, or check the signature");
            }
            return parsed.toASCIIString();
        } catch (URISyntaxException _) {
            throw wrongUrl();
        }
    }

    private static RuntimeException wrongUrl() {
        return RequestBody.invalid("'url' must be an address like https://example.org/hook, of at most %d characters"
                .formatted(LONGEST_URL));
    }

    private static @Nullable List<String> events(RequestBody body) {
        if (!body.says("events")) {
            // An empty list counts as absent: it cannot mean a webhook without events.
            if (body.has("events")) {
                throw RequestBody.invalid("'events' must name at least one of " + known());
            }
            return null;
        }
        var events = body.texts("events").stream().distinct().toList();
        for (String event : events) {
            if (Arrays.stream(LifecycleEvent.Type.values())
                    .noneMatch(type -> type.text().equals(event))) {
                throw RequestBody.invalid("'events' has '%s'; it may have %s".formatted(cut(event), known()));
            }
        }
        return events;
    }

    private static String known() {
        return Arrays.stream(LifecycleEvent.Type.values())
                .map(LifecycleEvent.Type::text)
                .collect(Collectors.joining(", "));
    }

    private static String cut(String text) {
        return text.length() > 60 ? text.substring(0, 60) + "..." : text;
    }

    private static @Nullable String secret(RequestBody body) {
        String secret = body.text("signatureSecret");
        if (secret != null && (secret.isEmpty() || secret.length() > LONGEST_SECRET)) {
            throw RequestBody.invalid("'signatureSecret' must have 1 to %d characters".formatted(LONGEST_SECRET));
        }
        return secret;
    }

    /// Prints everything but the secret.
    @Override
    public String toString() {
        return "WebhookRequest[%s]".formatted(name);
    }
}
