package dev.cay.mcp.protocol;

/// Headers of HTTP that MCP adds, as far as more than one transport reads them.
public final class McpHeaders {
    /// Header of the revisions with sessions only.
    public static final String SESSION = "Mcp-Session-Id";

    public static final String VERSION = "MCP-Protocol-Version";

    private McpHeaders() {}
}
