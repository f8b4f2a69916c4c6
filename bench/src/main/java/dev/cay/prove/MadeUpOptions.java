package dev.cay.prove;

import dev.cay.node.mcp.catalog.CatalogServer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/// Options for a server that look like real ones and open nothing: many programs look at the form of what they get
/// before they say what they can do.
final class MadeUpOptions {
    private static final String MAPBOX = "pk." + base64("{\"u\":\"somebody\",\"a\":\"made-up\"}") + ".%s";

    /// Where the name of an option does not say what its value looks like; `%s` is 40 digits.
    private static final Map<String, String> FORMS = Map.ofEntries(
            Map.entry("airtable.airtableApiKey", "pat%s"),
            Map.entry("airtable.nodeenv", "production"),
            Map.entry("apify.apifyToken", "apify_api_%s"),
            Map.entry("apify.tools", "actors,docs"),
            Map.entry("astraDb.astraDbApplicationToken", "AstraCS:%s"),
            Map.entry("astraDb.endpoint", "https://0a1b2c3d-us-east1.apps.astra.datastax.com"),
            Map.entry("dynatrace.oauthClientId", "dt0s02.%s"),
            Map.entry("dynatrace.url", "https://abc12345.apps.dynatrace.com"),
            Map.entry("gitlab.url", "https://gitlab.example.com/api/v4"),
            Map.entry("github.personalAccessToken", "ghp_%s"),
            Map.entry("mapbox.accessToken", MAPBOX),
            Map.entry("mapboxDevkit.mapboxAccessToken", MAPBOX),
            Map.entry("mongodb.mdbMcpConnectionString", "mongodb://somebody:%s@mongodb.example.com:27017/"),
            Map.entry("neon.apiKey", "napi_%s"),
            Map.entry("notion.internalIntegrationToken", "ntn_%s"),
            Map.entry("postman.apiKey", "PMAK-%s"),
            Map.entry("slack.botToken", "xoxb-%s"),
            Map.entry("slack.teamId", "T0123456789"),
            Map.entry("stripe.secretKey", "sk_test_%s"),
            Map.entry("tavily.apiKey", "tvly-%s"));

    private MadeUpOptions() {}

    /// All credentials, and what must be given else. Always the same ones.
    static ObjectNode of(CatalogServer server) {
        var options = JsonMapper.shared().createObjectNode();
        var paths = server.pathOptions();
        var alternative =
                server.anyOf().isEmpty() ? List.<String>of() : server.anyOf().getFirst();
        for (var option : server.options().values()) {
            if (option.secret() || option.required() || alternative.contains(option.name())) {
                options.set(
                        option.name(),
                        paths.contains(option.name()) && option.type() == CatalogServer.Type.STRING
                                ? JsonNodeFactory.instance.stringNode("/home/user/" + option.name())
                                : value(server.key(), option));
            }
        }
        return options;
    }

    private static JsonNode value(String key, CatalogServer.Option option) {
        var make = JsonNodeFactory.instance;
        return switch (option.type()) {
            case INTEGER, NUMBER -> make.numberNode(1000);
            case BOOLEAN -> make.booleanNode(false);
            case LIST -> make.arrayNode().add("/home/user");
            case STRING -> make.stringNode(text(key, option));
        };
    }

    private static String text(String key, CatalogServer.Option option) {
        if (!option.values().isEmpty()) {
            return option.values().getFirst();
        }
        String digits = digits(key + "." + option.name());
        String form = FORMS.get(key + "." + option.name());
        if (form != null) {
            return form.formatted(digits);
        }
        String name = option.name().toLowerCase(Locale.ROOT);
        if (!option.secret() && name.matches(".*(url|urls3|host|endpoint)")) {
            return "https://%s.example.com".formatted(key.toLowerCase(Locale.ROOT));
        }
        return !option.secret() && name.matches(".*(path|data)") ? "/home/user/" + key : digits;
    }

    private static String base64(String text) {
        return Base64.getUrlEncoder().withoutPadding().encodeToString(text.getBytes(StandardCharsets.UTF_8));
    }

    private static String digits(String seed) {
        try {
            byte[] hash = MessageDigest.getInstance("SHA-256").digest(seed.getBytes(StandardCharsets.UTF_8));
            return HexFormat.of().formatHex(hash).substring(0, 40);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java has SHA-256", e);
        }
    }
}
