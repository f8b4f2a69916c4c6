/// Revision 2026-07-28, in which every request stands for itself.
/// {@link dev.cay.mcp.protocol.stateless.StatelessTransport} puts the requests of one owner to conversations that they
/// share, so that conversations never see the difference.
@NullMarked
package dev.cay.mcp.protocol.stateless;

import org.jspecify.annotations.NullMarked;
