/// The gateway of a sandbox: many MCP servers behind one address, each of which runs outside the sandbox.
@NullMarked
package dev.cay.node.mcp;

import org.jspecify.annotations.NullMarked;
