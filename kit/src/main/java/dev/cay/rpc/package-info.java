/// JSON-RPC as MCP speaks it: {@link dev.cay.rpc.Message}s kept as the trees they came as, so that nothing unknown is
/// lost on the way, and the faces on which clients meet a {@link dev.cay.rpc.Conversation}.
///
/// Knows the rules of the transport. What the messages are about is the conversation's.
@NullMarked
package dev.cay.rpc;

import org.jspecify.annotations.NullMarked;
