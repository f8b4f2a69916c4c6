package dev.cay.node.interpreter;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;

/// A value that a cell shows, in the form that clients read: known types by their names, all others together.
///
/// The parts are copied from the runner's line without decoding: decoded, an image of 30 MB could need five times as
/// much memory.
final class ShownValue {
    /// MIME types that clients know by a name of their own.
    private static final Map<String, String> FIELDS = Map.ofEntries(
            Map.entry("text/plain", "text"),
            Map.entry("text/html", "html"),
            Map.entry("text/markdown", "markdown"),
            Map.entry("image/svg+xml", "svg"),
            Map.entry("image/png", "png"),
            Map.entry("image/jpeg", "jpeg"),
            Map.entry("application/pdf", "pdf"),
            Map.entry("text/latex", "latex"),
            Map.entry("application/json", "json"),
            Map.entry("application/javascript", "javascript"),
            Map.entry("e2b/data", "data"),
            Map.entry("e2b/chart", "chart"));

    /// The pairs that languages put around strings, as they are in JSON.
    private static final List<String> QUOTES = List.of("'", "\\\"");

    private static final int CHUNK = 8 << 10;

    /// Bytes of the line from one place to another.
    ///
    /// @param bare whether it is the inside of a string
    private record Part(int from, int to, boolean bare) {}

    private final byte[] line;
    private final Map<String, Part> known = new LinkedHashMap<>();
    private final Map<String, Part> others = new LinkedHashMap<>();
    private boolean main;

    /// @param line good JSON, as {@link Dialect#read} finds out
    ShownValue(byte[] line) {
        this.line = line;
        try (var parser = Dialect.parser(line)) {
            parser.nextToken();
            while (parser.nextToken() == JsonToken.PROPERTY_NAME) {
                String name = parser.currentName();
                var value = parser.nextToken();
                if (name.equals("main")) {
                    main = value == JsonToken.VALUE_TRUE;
                } else if (name.equals("data") && value == JsonToken.START_OBJECT) {
                    readBundle(parser);
                }
                parser.skipChildren();
            }
        }
    }

    private void readBundle(JsonParser parser) {
        var token = parser.nextToken();
        while (token == JsonToken.PROPERTY_NAME) {
            String type = parser.currentName();
            var value = parser.nextToken();
            int from = start(parser);
            parser.skipChildren();
            token = parser.nextToken();
            if (value != JsonToken.VALUE_NULL) {
                put(type, new Part(from, end(start(parser)), false));
            }
        }
    }

    private static int start(JsonParser parser) {
        return (int) parser.currentTokenLocation().getByteOffset();
    }

    /// @param next token's place, after a value
    private int end(int next) {
        int end = next;
        while (line[end - 1] <= ' ' || line[end - 1] == ',') {
            end--;
        }
        return end;
    }

    private void put(String type, Part part) {
        String field = FIELDS.get(type);
        if (field == null) {
            others.put(type, part);
        } else {
            known.put(field, field.equals("text") ? withoutQuotes(part) : part);
        }
    }

    /// Removes one pair of quotes around a text, which languages print around strings.
    private Part withoutQuotes(Part part) {
        for (String quote : QUOTES) {
            int length = quote.length();
            if (part.to - part.from >= 2 * length + 2
                    && isAt(part.from, "\"" + quote)
                    && isAt(part.to - length - 1, quote + "\"")) {
                return new Part(part.from + length + 1, part.to - length - 1, true);
            }
        }
        return part;
    }

    private boolean isAt(int place, String text) {
        return Arrays.equals(
                line, place, place + text.length(), text.getBytes(StandardCharsets.US_ASCII), 0, text.length());
    }

    /// Writes one line.
    void write(OutputStream to) throws IOException {
        print("{\"type\": \"result\"", to);
        for (var field : known.entrySet()) {
            print(", \"%s\": ".formatted(field.getKey()), to);
            copy(field.getValue(), to);
        }
        print(", \"is_main_result\": %s, \"extra\": {".formatted(main), to);
        String before = "";
        for (var other : others.entrySet()) {
            print(before + Dialect.text(other.getKey()) + ": ", to);
            copy(other.getValue(), to);
            before = ", ";
        }
        print("}}\n", to);
    }

    /// Copies a part as ASCII on one line, because clients differ in how they decode other characters and split lines:
    /// other characters are escaped, and line ends between the tokens of JSON become spaces.
    private void copy(Part part, OutputStream to) throws IOException {
        if (part.bare) {
            to.write('"');
        }
        var bytes = new ByteArrayInputStream(line, part.from, part.to - part.from);
        var text = new InputStreamReader(bytes, StandardCharsets.UTF_8);
        char[] some = new char[CHUNK];
        for (int count; (count = text.read(some)) > 0; ) {
            for (int i = 0; i < count; i++) {
                if (some[i] > '~') {
                    print("\\u%04x".formatted((int) some[i]), to);
                } else {
                    to.write(Math.max(' ', some[i]));
                }
            }
        }
        if (part.bare) {
            to.write('"');
        }
    }

    private static void print(String text, OutputStream to) throws IOException {
        to.write(text.getBytes(StandardCharsets.US_ASCII));
    }
}
