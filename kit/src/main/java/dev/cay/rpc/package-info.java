/// JSON-RPC as MCP speaks it: {@link dev.cay.rpc.Message}s kept as the trees they came as, so that nothing unknown is
/// lost on the way, and the faces on which clients meet a {@link dev.cay.rpc.Conversation}.
///
/// {@link dev.cay.rpc.StdioFace} has one client at the end of its pipes. {@link dev.cay.rpc.HttpFace} has many: behind
/// its `RequestChecks` those of the older revisions have a `Session` each (`SessionTransport`), those of 2026-07-28
/// share conversations
/// (`StatelessTransport`), and what is for a client waits in an `Outbox` that `Answers` carries to it.
///
/// Knows the rules of the transport. What the messages are about is the conversation's.
@NullMarked
package dev.cay.rpc;

import org.jspecify.annotations.NullMarked;
