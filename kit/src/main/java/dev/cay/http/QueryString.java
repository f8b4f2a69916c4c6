package dev.cay.http;

import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// The decoded parameters of a query.
record QueryString(Map<String, List<String>> values) {
    static QueryString parse(@Nullable String raw) {
        var values = new HashMap<String, List<String>>();
        if (raw == null) {
            return new QueryString(values);
        }
        for (String pair : raw.split("&")) {
            if (pair.isEmpty()) {
                continue;
            }
            int equals = pair.indexOf('=');
            String name = decode(equals < 0 ? pair : pair.substring(0, equals));
            String value = equals < 0 ? "" : decode(pair.substring(equals + 1));
            values.computeIfAbsent(name, _ -> new ArrayList<>()).add(value);
        }
        return new QueryString(values);
    }

    List<String> all(String name) {
        return values.getOrDefault(name, List.of());
    }

    /// Decodes a part of a path, where a plus is a plus.
    static String decodePath(String part) {
        return part.indexOf('%') < 0 ? part : decode(part.replace("+", "%2B"));
    }

    private static String decode(String text) {
        try {
            return URLDecoder.decode(text, StandardCharsets.UTF_8);
        } catch (IllegalArgumentException e) {
            throw new CayException(ErrorKind.INVALID_ARGUMENT, "bad percent-encoding in the address", e);
        }
    }
}
