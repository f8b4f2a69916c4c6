package dev.cay.mcp.protocol.stateless;

import dev.cay.http.Exchange;
import dev.cay.http.Json;
import dev.cay.mcp.protocol.McpHeaders;
import dev.cay.mcp.protocol.Message;
import dev.cay.mcp.protocol.Refusal;
import dev.cay.mcp.protocol.RpcException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.MissingNode;
import tools.jackson.databind.node.ObjectNode;

/// The facts about a request of 2026-07-28, checked: they are in its `_meta`, and again in headers, so that
/// intermediaries need not read bodies.
///
/// @param capabilities of the client
/// @param client       its name and version; may be missing
/// @param logLevel     the lowest level of log messages that it wants for its request; may be missing
public record Envelope(ObjectNode capabilities, JsonNode client, JsonNode logLevel) {
    private static final String PREFIX = "io.modelcontextprotocol/";
    public static final String VERSION = PREFIX + "protocolVersion";
    public static final String CAPABILITIES = PREFIX + "clientCapabilities";
    static final String CLIENT = PREFIX + "clientInfo";
    public static final String LOG_LEVEL = PREFIX + "logLevel";
    public static final String SERVER = PREFIX + "serverInfo";
    public static final String SUBSCRIPTION = PREFIX + "subscriptionId";

    /// Which parameter `Mcp-Name` repeats.
    private static final Map<String, String> NAMES =
            Map.of("tools/call", "name", "prompts/get", "name", "resources/read", "uri");

    private static final String BASE64 = "=?base64?";

    static JsonNode meta(Message message) {
        return message.params().path("_meta");
    }

    static Envelope read(Exchange exchange, Message message) {
        var meta = meta(message);
        var version = meta.path(VERSION);
        String header = stripped(exchange, McpHeaders.VERSION);
        if (!version.isString()) {
            throw invalid("params._meta must have %s as a string".formatted(VERSION));
        }
        if (header == null || !header.equals(version.asString())) {
            throw mismatch("the header MCP-Protocol-Version must be that of the message, %s"
                    .formatted(Refusal.quoted(version)));
        }
        if (!version.asString().equals(StatelessTransport.REVISION)) {
            throw unsupported(version.asString());
        }
        if (!(meta.path(CAPABILITIES) instanceof ObjectNode capabilities)) {
            throw invalid("params._meta must have %s as an object".formatted(CAPABILITIES));
        }
        if (meta.has(CLIENT) && !meta.path(CLIENT).isObject()) {
            throw invalid("params._meta must have %s as an object".formatted(CLIENT));
        }
        checkHeaders(exchange, message);
        return new Envelope(capabilities, meta.path(CLIENT), meta.path(LOG_LEVEL));
    }

    private static void checkHeaders(Exchange exchange, Message message) {
        String method = stripped(exchange, "Mcp-Method");
        if (method == null || !method.equals(message.method())) {
            throw mismatch("the header Mcp-Method must be the method of the message, %s"
                    .formatted(Refusal.quoted(message.method())));
        }
        String field = NAMES.get(message.method());
        var name = field == null ? null : message.params().path(field);
        if (name == null || !name.isString()) {
            return;
        }
        String header = stripped(exchange, "Mcp-Name");
        if (header == null || !decoded(header).equals(Optional.of(name.asString()))) {
            throw mismatch(
                    "the header Mcp-Name must be params.%s of the message, %s".formatted(field, Refusal.quoted(name)));
        }
    }

    private static @Nullable String stripped(Exchange exchange, String name) {
        String value = exchange.header(name);
        return value == null ? null : value.strip();
    }

    /// A header's text; empty when it is marked as base64 and is not.
    static Optional<String> decoded(String header) {
        if (!header.startsWith(BASE64) || !header.endsWith("?=") || header.length() < BASE64.length() + 2) {
            return Optional.of(header);
        }
        String encoded = header.substring(BASE64.length(), header.length() - 2);
        // The decoder would do without the padding.
        if (encoded.length() % 4 != 0) {
            return Optional.empty();
        }
        try {
            byte[] bytes = Base64.getDecoder().decode(encoded);
            return Optional.of(StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(bytes))
                    .toString());
        } catch (IllegalArgumentException | CharacterCodingException e) {
            return Optional.empty();
        }
    }

    static Refusal mismatch(String message) {
        return new Refusal(400, Refusal.HEADER_MISMATCH, message);
    }

    static Refusal invalid(String message) {
        return new Refusal(400, RpcException.INVALID_PARAMS, message);
    }

    private static Refusal unsupported(String version) {
        var data = Json.mapper().createObjectNode().put("requested", version);
        data.putArray("supported").add(StatelessTransport.REVISION);
        var error = new RpcException(
                Refusal.UNSUPPORTED_VERSION,
                "protocol version %s is not supported".formatted(Refusal.quoted(version)),
                data);
        return new Refusal(400, error, MissingNode.getInstance());
    }
}
