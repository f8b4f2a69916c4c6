package dev.cay.rpc;

/// Headers of HTTP that MCP adds, as far as more than one transport reads them.
final class McpHeaders {
    /// Only of the revisions with sessions.
    static final String SESSION = "Mcp-Session-Id";

    static final String VERSION = "MCP-Protocol-Version";

    private McpHeaders() {}
}
