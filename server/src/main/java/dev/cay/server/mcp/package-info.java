/// What users do about the MCP servers of their sandboxes' gateways by the API.
@NullMarked
package dev.cay.server.mcp;

import org.jspecify.annotations.NullMarked;
