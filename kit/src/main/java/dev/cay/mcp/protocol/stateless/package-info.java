/// Revision 2026-07-28, in which requests are independent of each other. {@link
/// dev.cay.mcp.protocol.stateless.StatelessTransport} maps the requests of one owner to conversations that they share,
/// so conversations do not see the difference.
@NullMarked
package dev.cay.mcp.protocol.stateless;

import org.jspecify.annotations.NullMarked;
