/// Entry points for MCP clients: {@link dev.cay.mcp.protocol.face.StdioFace} has one client at the end of its pipes,
/// {@link dev.cay.mcp.protocol.face.HttpFace} many, which it passes on to the transport of their revision.
@NullMarked
package dev.cay.mcp.protocol.face;

import org.jspecify.annotations.NullMarked;
