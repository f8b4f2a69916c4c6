package dev.cay.mcp.protocol;

import java.io.Serial;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/// An error that is sent to the other side, with a code of JSON-RPC or MCP.
public final class RpcException extends RuntimeException {
    public static final int PARSE_ERROR = -32700;
    public static final int INVALID_REQUEST = -32600;
    public static final int METHOD_NOT_FOUND = -32601;
    public static final int INVALID_PARAMS = -32602;
    public static final int INTERNAL_ERROR = -32603;

    @Serial
    private static final long serialVersionUID = 1;

    private final int code;
    private final transient @Nullable JsonNode data;

    public RpcException(int code, String message) {
        this(code, message, null);
    }

    /// @param data what a program can make of it
    public RpcException(int code, String message, @Nullable JsonNode data) {
        super(message);
        this.code = code;
        this.data = data;
    }

    public int code() {
        return code;
    }

    /// Details of the error for programs; empty if there are none.
    public Optional<JsonNode> data() {
        return Optional.ofNullable(data);
    }

    public String text() {
        return String.valueOf(getMessage());
    }
}
