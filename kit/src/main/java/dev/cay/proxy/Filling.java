package dev.cay.proxy;

import dev.cay.http.Json;
import dev.cay.wire.SandboxId;
import dev.cay.wire.node.Egress;
import dev.cay.wire.node.Placeholders;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// Replaces placeholders that code in a sandbox sends by the values of secrets. The rule names the secrets; a
/// placeholder of any other, or of one that may not go to the host, stays as it is.
final class Filling {
    private static final String NAME = "([A-Za-z0-9_-]{1,128})";
    private static final Pattern PLAIN = Pattern.compile("\\$\\{e2b\\.secrets\\." + NAME + "}");

    /// A placeholder as queries and forms encode it.
    private static final Pattern ENCODED =
            Pattern.compile("(?i)(?:\\$|%24)(?:\\{|%7b)e2b\\.secrets\\." + NAME + "(?:}|%7d)");

    private static final String BASIC = "basic ";

    /// Encodes a value for one place; null where that is impossible.
    private interface Form {
        @Nullable
        String of(String value);
    }

    private final Placeholders placeholders;
    private final SandboxId sandbox;
    private final String host;
    private final Set<String> allowed;
    private final Map<String, Optional<String>> values = new HashMap<>();
    private final Set<String> sent = new HashSet<>();

    Filling(Placeholders placeholders, SandboxId sandbox, String host, Egress.Fill fill) {
        this.placeholders = placeholders;
        this.sandbox = sandbox;
        this.host = host;
        this.allowed = fill.secrets();
    }

    /// All inserted values, and logins that contain one in the form that is sent.
    Set<String> sent() {
        return Set.copyOf(sent);
    }

    /// Fills a header's value, also inside names and passwords of `Basic`.
    String header(String value) {
        if (!value.regionMatches(true, 0, BASIC, 0, BASIC.length())) {
            return replace(value, PLAIN, Filling::inHeader);
        }
        String token = value.substring(BASIC.length()).strip();
        try {
            String login = latin(Base64.getDecoder().decode(token));
            String filled = replace(login, PLAIN, Filling::inText);
            if (filled.equals(login)) {
                return value;
            }
            String encoded = Base64.getEncoder().encodeToString(filled.getBytes(StandardCharsets.ISO_8859_1));
            sent.add(encoded);
            return value.substring(0, BASIC.length()) + encoded;
        } catch (IllegalArgumentException e) {
            return value;
        }
    }

    /// A line end in a value would be another header.
    private static @Nullable String inHeader(String value) {
        return value.chars().anyMatch(c -> (c < 0x20 && c != '\t') || c == 0x7f) ? null : inText(value);
    }

    /// @param target path and query, of which the path stays as it is
    String query(String target) {
        int begin = target.indexOf('?');
        return begin < 0
                ? target
                : target.substring(0, begin) + replace(target.substring(begin), ENCODED, Filling::inForm);
    }

    static String inForm(String value) {
        return URLEncoder.encode(value, StandardCharsets.UTF_8).replace("+", "%20");
    }

    /// @param type the body's content type, in which values are written as it needs them
    byte[] body(String type, byte[] body) {
        String lower = type.toLowerCase(Locale.ROOT);
        String text = latin(body);
        String filled = lower.startsWith("application/x-www-form-urlencoded")
                ? replace(text, ENCODED, Filling::inForm)
                : replace(text, PLAIN, lower.contains("json") ? value -> inText(inJson(value)) : Filling::inText);
        return filled.getBytes(StandardCharsets.ISO_8859_1);
    }

    static String inJson(String value) {
        String quoted = Json.text(value);
        return quoted.substring(1, quoted.length() - 1);
    }

    /// A text whose characters are the bytes of the value in UTF-8.
    static String inText(String value) {
        return latin(value.getBytes(StandardCharsets.UTF_8));
    }

    private static String latin(byte[] bytes) {
        return new String(bytes, StandardCharsets.ISO_8859_1);
    }

    private String replace(String text, Pattern placeholder, Form form) {
        return placeholder
                .matcher(text)
                .replaceAll(found -> Matcher.quoteReplacement(value(found.group(1))
                        .flatMap(value -> written(value, form))
                        .orElse(found.group())));
    }

    private Optional<String> written(String value, Form form) {
        var written = Optional.ofNullable(form.of(value));
        written.ifPresent(_ -> sent.add(value));
        return written;
    }

    private Optional<String> value(String name) {
        String lower = name.toLowerCase(Locale.ROOT);
        return allowed.contains(lower)
                ? values.computeIfAbsent(
                        lower, secret -> placeholders.value(sandbox, Placeholders.Kind.SECRET, secret, host))
                : Optional.empty();
    }
}
