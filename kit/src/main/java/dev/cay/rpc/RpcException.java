package dev.cay.rpc;

import java.io.Serial;

/// An error that is told to the other side as such, with a code of JSON-RPC or MCP.
public final class RpcException extends RuntimeException {
    public static final int PARSE_ERROR = -32700;
    public static final int INVALID_REQUEST = -32600;
    public static final int METHOD_NOT_FOUND = -32601;
    public static final int INVALID_PARAMS = -32602;
    public static final int INTERNAL_ERROR = -32603;

    @Serial
    private static final long serialVersionUID = 1;

    private final int code;

    public RpcException(int code, String message) {
        super(message);
        this.code = code;
    }

    public int code() {
        return code;
    }

    String text() {
        return String.valueOf(getMessage());
    }
}
