package dev.cay.server.secret;

import dev.cay.server.request.RequestBody;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// The checked body of a secret's request.
///
/// @param metadata null if the field is absent
record SecretRequest(String value, @Nullable Map<String, String> metadata) {
    /// Ids begin with it.
    static final String RESERVED = "sec_";

    /// The entry of the metadata that names the only hosts the value may be sent to, separated by commas.
    static final String HOSTS = "cay.hosts";

    private static final Pattern NAME = Pattern.compile("[a-z0-9_-]{1,128}");
    private static final Pattern HOST = Pattern.compile("(\\*\\.)?([a-z0-9_-]{1,63}\\.)*[a-z0-9_-]{1,63}");
    private static final int VALUE_BYTES = 64 * 1024;
    private static final int ENTRIES = 32;
    private static final int ENTRY_NAME_BYTES = 128;
    private static final int ENTRY_BYTES = 1024;
    private static final int METADATA_BYTES = 8192;

    static String name(RequestBody body) {
        String name = body.text("name");
        String lower = name == null ? "" : name.toLowerCase(Locale.ROOT);
        if (!NAME.matcher(lower).matches()) {
            throw RequestBody.invalid("'name' must be 1 to 128 letters, digits, '-' and '_'");
        }
        if (lower.startsWith(RESERVED)) {
            throw RequestBody.invalid("'name' must not begin with '%s', as ids do".formatted(RESERVED));
        }
        return lower;
    }

    static SecretRequest read(RequestBody body) {
        String value = body.text("value");
        if (value == null || value.isEmpty()) {
            throw RequestBody.invalid("'value' is required and must not be empty");
        }
        if (bytes(value) > VALUE_BYTES) {
            throw RequestBody.invalid("'value' is larger than %d bytes".formatted(VALUE_BYTES));
        }
        return new SecretRequest(value, body.has("metadata") ? metadata(body) : null);
    }

    private static Map<String, String> metadata(RequestBody body) {
        var metadata = body.map("metadata");
        if (metadata.size() > ENTRIES) {
            throw RequestBody.invalid("'metadata' has more than %d entries".formatted(ENTRIES));
        }
        int all = 0;
        for (var entry : metadata.entrySet()) {
            if (entry.getKey().isEmpty() || bytes(entry.getKey()) > ENTRY_NAME_BYTES) {
                throw RequestBody.invalid(
                        "'metadata' has a name that is empty or longer than %d bytes".formatted(ENTRY_NAME_BYTES));
            }
            if (bytes(entry.getValue()) > ENTRY_BYTES) {
                throw RequestBody.invalid(
                        "'metadata.%s' is larger than %d bytes".formatted(entry.getKey(), ENTRY_BYTES));
            }
            all += bytes(entry.getKey()) + bytes(entry.getValue());
        }
        if (all > METADATA_BYTES) {
            throw RequestBody.invalid("'metadata' is larger than %d bytes".formatted(METADATA_BYTES));
        }
        hosts(metadata).forEach(SecretRequest::requireHost);
        return metadata;
    }

    /// The only hosts that a value may be sent to; empty if its owner named none.
    static List<String> hosts(Map<String, String> metadata) {
        return Arrays.stream(metadata.getOrDefault(HOSTS, "").split(","))
                .map(host -> host.strip().toLowerCase(Locale.ROOT))
                .filter(host -> !host.isEmpty())
                .toList();
    }

    private static void requireHost(String host) {
        if (host.length() > 253 || !HOST.matcher(host).matches()) {
            throw RequestBody.invalid(
                    "'metadata.%s' must be host names like api.example.com or *.example.com, separated by commas"
                            .formatted(HOSTS));
        }
    }

    private static int bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8).length;
    }
}
