/// Encryption of what the gateways keep on disk: settings with users' credentials, and tokens of OAuth.
@NullMarked
package dev.cay.node.mcp.seal;

import org.jspecify.annotations.NullMarked;
