package dev.cay.node.interpreter;

import java.io.ByteArrayOutputStream;
import java.io.OutputStream;
import java.net.ProtocolException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.core.StreamWriteFeature;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.core.json.JsonWriteFeature;
import tools.jackson.databind.json.JsonMapper;

/// The lines that pass between node and runner, see `guest/runners/PROTOCOL.md`, and how what a runner shows is told to
/// clients. Read token by token: a line is hostile input of up to 32 MiB.
final class Dialect {
    /// Longest line of a runner.
    static final int LINE_LIMIT = 32 << 20;

    private static final int DEPTH_LIMIT = 200;

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

    /// ASCII only: clients cut streams where they like, and break lines at every separator Unicode has.
    private static final JsonMapper JSON = JsonMapper.builder(JsonFactory.builder()
                    .streamReadConstraints(StreamReadConstraints.builder()
                            .maxNestingDepth(DEPTH_LIMIT)
                            .maxStringLength(LINE_LIMIT)
                            .maxNumberLength(1_000)
                            .build())
                    .enable(JsonWriteFeature.ESCAPE_NON_ASCII)
                    .disable(StreamReadFeature.INCLUDE_SOURCE_IN_LOCATION)
                    .disable(StreamWriteFeature.AUTO_CLOSE_TARGET)
                    .build())
            .build();

    private Dialect() {}

    /// A line for a runner, or for a client.
    static byte[] line(Object value) {
        return (JSON.writeValueAsString(value) + "\n").getBytes(StandardCharsets.US_ASCII);
    }

    /// @return nothing for a kind this node does not know
    static Optional<RunnerEvent> read(byte[] line) throws ProtocolException {
        try (var parser = JSON.createParser(line)) {
            return Optional.ofNullable(read(parser, line));
        } catch (JacksonException e) {
            throw broken(e);
        }
    }

    private static @Nullable RunnerEvent read(JsonParser parser, byte[] line) throws ProtocolException {
        if (parser.nextToken() != JsonToken.START_OBJECT) {
            throw new ProtocolException("a runner's line is no object");
        }
        var fields = new Fields();
        while (parser.nextToken() == JsonToken.PROPERTY_NAME) {
            String name = parser.currentName();
            parser.nextToken();
            fields.take(name, parser);
        }
        return fields.event(line);
    }

    private static ProtocolException broken(JacksonException e) {
        var broken = new ProtocolException("a runner's line is no JSON, or too deep");
        broken.initCause(e);
        return broken;
    }

    /// What is wanted of a line, each with its type.
    private static final class Fields {
        private String event = "";
        private String text = "";
        private String reason = "";
        private String name = "";
        private String value = "";
        private String traceback = "";
        private long number;
        private long cell;
        private long count;

        void take(String field, JsonParser parser) {
            switch (field) {
                case "event" -> event = string(parser);
                case "text" -> text = string(parser);
                case "reason" -> reason = string(parser);
                case "name" -> name = string(parser);
                case "value" -> value = string(parser);
                case "traceback" -> traceback = string(parser);
                case "n" -> number = whole(parser);
                case "id" -> cell = whole(parser);
                case "count" -> count = whole(parser);
                default -> parser.skipChildren();
            }
        }

        private static String string(JsonParser parser) {
            if (parser.currentToken() == JsonToken.VALUE_STRING) {
                return parser.getString();
            }
            parser.skipChildren();
            return "";
        }

        private static long whole(JsonParser parser) {
            if (parser.currentToken() == JsonToken.VALUE_NUMBER_INT
                    && parser.getNumberType() != JsonParser.NumberType.BIG_INTEGER) {
                return parser.getLongValue();
            }
            parser.skipChildren();
            return -1;
        }

        @Nullable
        RunnerEvent event(byte[] line) {
            return switch (event) {
                case "ready" -> new RunnerEvent.Ready(number);
                case "refused" -> new RunnerEvent.Refused(number, reason);
                case "begin" -> new RunnerEvent.Begin(cell, count);
                case "out" -> new RunnerEvent.Printed(false, text);
                case "err" -> new RunnerEvent.Printed(true, text);
                case "result" -> new RunnerEvent.Shown(line);
                case "error" -> new RunnerEvent.Failed(name, value, traceback);
                case "end" -> new RunnerEvent.End(cell);
                default -> null;
            };
        }
    }

    /// What a client reads of a value that was shown: known types by their names, all others together.
    static void writeResult(byte[] line, OutputStream to) throws ProtocolException {
        var extra = new ByteArrayOutputStream();
        try (var parser = JSON.createParser(line);
                var out = JSON.createGenerator(to);
                var others = JSON.createGenerator(extra)) {
            boolean main = false;
            out.writeStartObject();
            out.writeStringProperty("type", "result");
            others.writeStartObject();
            parser.nextToken();
            while (parser.nextToken() == JsonToken.PROPERTY_NAME) {
                String name = parser.currentName();
                var value = parser.nextToken();
                if (name.equals("main")) {
                    main = value == JsonToken.VALUE_TRUE;
                } else if (name.equals("data") && value == JsonToken.START_OBJECT) {
                    copyBundle(parser, out, others);
                }
                parser.skipChildren();
            }
            others.writeEndObject();
            others.flush();
            out.writeBooleanProperty("is_main_result", main);
            out.writeName("extra");
            copyObject(extra.toByteArray(), out);
            out.writeEndObject();
        } catch (JacksonException e) {
            throw broken(e);
        }
    }

    private static void copyBundle(JsonParser parser, JsonGenerator out, JsonGenerator others) {
        while (parser.nextToken() == JsonToken.PROPERTY_NAME) {
            String type = parser.currentName();
            String field = FIELDS.get(type);
            var value = parser.nextToken();
            if (value == JsonToken.VALUE_NULL) {
                continue;
            }
            if (field == null) {
                others.writeName(type);
                others.copyCurrentStructure(parser);
            } else if (field.equals("text") && value == JsonToken.VALUE_STRING) {
                out.writeStringProperty(field, withoutQuotes(parser.getString()));
            } else {
                out.writeName(field);
                out.copyCurrentStructure(parser);
            }
        }
    }

    private static void copyObject(byte[] object, JsonGenerator out) {
        try (var parser = JSON.createParser(object)) {
            parser.nextToken();
            out.copyCurrentStructure(parser);
        }
    }

    /// One pair around a text is that of a language's way to write strings.
    static String withoutQuotes(String text) {
        boolean quoted = text.length() >= 2
                && (text.charAt(0) == '\'' || text.charAt(0) == '"')
                && text.charAt(0) == text.charAt(text.length() - 1);
        return quoted ? text.substring(1, text.length() - 1) : text;
    }
}
