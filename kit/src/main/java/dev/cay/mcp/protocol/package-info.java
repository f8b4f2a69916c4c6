/// JSON-RPC as MCP speaks it: {@link dev.cay.mcp.protocol.Message}s kept as the trees they came as, so that nothing
/// unknown is lost on the way, and the {@link dev.cay.mcp.protocol.Conversation} that a client has with a server.
///
/// How clients come is in the packages below, and these know each other one way only: `face` (pipes and HTTP) knows
/// `session` and `stateless`, the transports of two kinds of revisions, which do not know each other; both use
/// `stream`. All know this package. What the messages are about is the conversation's.
@NullMarked
package dev.cay.mcp.protocol;

import org.jspecify.annotations.NullMarked;
