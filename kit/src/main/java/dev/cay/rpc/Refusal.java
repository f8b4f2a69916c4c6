package dev.cay.rpc;

import java.io.Serial;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.MissingNode;

/// A request that is not let through, with the status that HTTP has for it.
final class Refusal extends RuntimeException {
    /// What JSON-RPC leaves to whoever carries its messages.
    static final int TRANSPORT = -32000;

    static final int HEADER_MISMATCH = -32020;
    static final int MISSING_CAPABILITY = -32021;
    static final int UNSUPPORTED_VERSION = -32022;

    @Serial
    private static final long serialVersionUID = 1;

    private final int status;
    private final RpcException error;
    private final transient JsonNode id;

    Refusal(int status, RpcException error, JsonNode id) {
        super(error.text(), error, false, false);
        this.status = status;
        this.error = error;
        this.id = id;
    }

    Refusal(int status, int code, String message) {
        this(status, new RpcException(code, message), MissingNode.getInstance());
    }

    Refusal(int status, String message) {
        this(status, TRANSPORT, message);
    }

    /// The same about a certain request.
    Refusal of(JsonNode request) {
        return new Refusal(status, error, request);
    }

    int status() {
        return status;
    }

    byte[] body() {
        return Message.error(id, error).bytes();
    }

    /// What a client sent, fit to be shown.
    static String quoted(String text) {
        String clean = text.replaceAll("[^\\x20-\\x7e]", "?");
        return "'%s'".formatted(clean.length() > 100 ? clean.substring(0, 100) + "..." : clean);
    }

    static String quoted(JsonNode text) {
        return quoted(text.asString(""));
    }
}
