package dev.cay.node.interpreter;

import dev.cay.node.lines.LongLines;
import java.io.IOException;
import java.io.OutputStream;
import java.net.ProtocolException;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.core.StreamWriteFeature;
import tools.jackson.core.exc.JacksonIOException;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.core.json.JsonWriteFeature;
import tools.jackson.databind.json.JsonMapper;

/// The lines that pass between node and runner, see `guest/runners/PROTOCOL.md`, and those for clients. Read token by
/// token: a line is hostile input of up to 32 MiB.
final class Dialect {
    /// Longest line of a runner.
    static final int LINE_LIMIT = LongLines.LIMIT;

    private static final int DEPTH_LIMIT = 200;

    /// Longest text of output or of an error. A shown value may be as long as its line.
    private static final int TEXT_LIMIT = 4 << 20;

    /// ASCII only: clients cut streams where they like, and break lines at every separator Unicode has.
    private static final JsonMapper JSON = JsonMapper.builder(JsonFactory.builder()
                    .streamReadConstraints(StreamReadConstraints.builder()
                            .maxNestingDepth(DEPTH_LIMIT)
                            .maxStringLength(TEXT_LIMIT)
                            // Numbers are passed on as text, so their length does not matter.
                            .maxNumberLength(LINE_LIMIT)
                            .build())
                    .enable(JsonWriteFeature.ESCAPE_NON_ASCII)
                    .disable(StreamReadFeature.INCLUDE_SOURCE_IN_LOCATION)
                    .disable(StreamWriteFeature.AUTO_CLOSE_TARGET)
                    .disable(StreamWriteFeature.FLUSH_PASSED_TO_STREAM)
                    .build())
            .build();

    private Dialect() {}

    /// A line for a runner.
    static byte[] line(Object value) {
        return (text(value) + "\n").getBytes(StandardCharsets.US_ASCII);
    }

    /// The value as JSON, in ASCII.
    static String text(Object value) {
        return JSON.writeValueAsString(value);
    }

    /// A line for a client.
    static void write(Object value, OutputStream to) throws IOException {
        try {
            JSON.writeValue(to, value);
        } catch (JacksonIOException e) {
            throw e.getCause();
        }
        to.write('\n');
    }

    /// @return nothing for a kind this node does not know
    static Optional<RunnerEvent> read(byte[] line) throws ProtocolException {
        try (var parser = JSON.createParser(line)) {
            return Optional.ofNullable(read(parser, line));
        } catch (JacksonException e) {
            throw broken(e);
        }
    }

    /// A parser for a line that {@link #read(byte[])} accepted.
    static JsonParser parser(byte[] line) {
        return JSON.createParser(line);
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

    /// The expected fields of a line, each with its type.
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
}
