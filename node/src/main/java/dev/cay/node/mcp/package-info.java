/// The gateway of a sandbox: many MCP servers behind one address, each of which runs where the sandbox cannot look.
@NullMarked
package dev.cay.node.mcp;

import org.jspecify.annotations.NullMarked;
