/// Sandboxes as tools of MCP clients: ten of them, in {@link dev.cay.mcp.SandboxTools}. {@link dev.cay.mcp.ToolServer}
/// is the conversation, {@link dev.cay.mcp.OwnSandboxes} what it may have and must clear away. {@link
/// dev.cay.mcp.SandboxServer} serves one client by pipes, {@link dev.cay.mcp.HttpSandboxServer} many over HTTP; {@link
/// dev.cay.mcp.Program} is both as a jar.
///
/// Reaches sandboxes by the SDK alone, so it works with a Cay or a cloud anywhere.
@NullMarked
package dev.cay.mcp;

import org.jspecify.annotations.NullMarked;
