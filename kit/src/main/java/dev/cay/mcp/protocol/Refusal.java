package dev.cay.mcp.protocol;

import java.io.Serial;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.MissingNode;

/// A request that is not let through, with the status that HTTP has for it.
public final class Refusal extends RuntimeException {
    /// The JSON-RPC code that is reserved for transports.
    public static final int TRANSPORT = -32000;

    public static final int HEADER_MISMATCH = -32020;
    public static final int MISSING_CAPABILITY = -32021;
    public static final int UNSUPPORTED_VERSION = -32022;

    @Serial
    private static final long serialVersionUID = 1;

    private final int status;
    private final RpcException error;
    private final transient JsonNode id;

    public Refusal(int status, RpcException error, JsonNode id) {
        super(error.text(), error, false, false);
        this.status = status;
        this.error = error;
        this.id = id;
    }

    public Refusal(int status, int code, String message) {
        this(status, new RpcException(code, message), MissingNode.getInstance());
    }

    public Refusal(int status, String message) {
        this(status, TRANSPORT, message);
    }

    /// The same error for a certain request.
    public Refusal of(JsonNode request) {
        return new Refusal(status, error, request);
    }

    public int status() {
        return status;
    }

    public byte[] body() {
        return Message.error(id, error).bytes();
    }

    /// A client's text, shortened and cleaned so that it can be shown.
    public static String quoted(String text) {
        String clean = text.replaceAll("[^\\x20-\\x7e]", "?");
        return "'%s'".formatted(clean.length() > 100 ? clean.substring(0, 100) + "..." : clean);
    }

    public static String quoted(JsonNode text) {
        return quoted(text.asString(""));
    }
}
