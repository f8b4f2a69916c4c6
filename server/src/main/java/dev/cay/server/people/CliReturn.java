package dev.cay.server.people;

import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// Where a program of a person's waits for their browser: a port of the browser's own machine, and nothing else, as
/// tokens are sent there.
///
/// @param origin like `http://localhost:8080`
record CliReturn(String origin) {
    private static final Pattern SHAPE = Pattern.compile("(http://(?:localhost|127\\.0\\.0\\.1):([1-9][0-9]{0,4}))/?");
    private static final int LAST_PORT = 65_535;

    /// Empty for any other address.
    static Optional<CliReturn> parse(@Nullable String next) {
        var parts = SHAPE.matcher(next == null ? "" : next);
        if (!parts.matches() || Integer.parseInt(parts.group(2)) > LAST_PORT) {
            return Optional.empty();
        }
        return Optional.of(new CliReturn(parts.group(1)));
    }

    /// The address with these values, where the program reads them.
    String with(Map<String, String> values) {
        return origin + "/?"
                + values.entrySet().stream()
                        .map(value -> value.getKey() + "=" + encoded(value.getValue()))
                        .collect(Collectors.joining("&"));
    }

    /// The address that ends the program's wait with a sentence.
    String failed(String why) {
        return with(Map.of("error", why));
    }

    static String encoded(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8);
    }
}
