/// The revisions up to 2025-11-25, in which a client has a {@link dev.cay.mcp.protocol.session.Session}: one
/// conversation from its `initialize` to its end.
@NullMarked
package dev.cay.mcp.protocol.session;

import org.jspecify.annotations.NullMarked;
