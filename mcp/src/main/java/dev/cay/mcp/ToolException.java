package dev.cay.mcp;

import java.io.Serial;

/// Why a tool could not do what it was asked, in words for the model.
final class ToolException extends RuntimeException {
    @Serial
    private static final long serialVersionUID = 1;

    ToolException(String message) {
        super(message);
    }
}
