package dev.cay.node.mcp.server;

import dev.cay.mcp.protocol.Message;
import dev.cay.mcp.protocol.RpcException;
import java.net.ProtocolException;
import java.util.Optional;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.json.JsonFactory;

/// Parses lines into messages. Used by one thread.
///
/// Servers print other lines too. Those are skipped, up to a number.
final class MessageLines {
    private static final int MOST_OTHERS = 1000;

    /// A tree takes many times the memory of its text if it has many small parts.
    private static final int MOST_PARTS = 500_000;

    private static final int LONG = 128 << 10;
    private static final JsonFactory JSON = new JsonFactory();

    private int others;

    /// @return empty for a line that is no message
    Optional<Message> read(byte[] line) throws ProtocolException {
        try {
            if (line.length > LONG) {
                requireFew(line);
            }
            var message = Message.parse(line);
            others = 0;
            return Optional.of(message);
        } catch (RpcException | JacksonException e) {
            if (++others > MOST_OTHERS) {
                throw new ProtocolException(
                        "it printed more than %d lines in a row that are no messages".formatted(MOST_OTHERS));
            }
            return Optional.empty();
        }
    }

    private static void requireFew(byte[] line) throws ProtocolException {
        try (JsonParser parser = JSON.createParser(ObjectReadContext.empty(), line)) {
            for (int parts = 0; parser.nextToken() != null; parts++) {
                if (parts > MOST_PARTS) {
                    throw new ProtocolException("it sent a message of more than %,d parts".formatted(MOST_PARTS));
                }
            }
        }
    }
}
