/// Messages on their way to a client: an {@link dev.cay.mcp.protocol.stream.Outbox} holds the messages of one request
/// or session, {@link dev.cay.mcp.protocol.stream.Answers} sends them to the client, alone as JSON or one by one as
/// events.
@NullMarked
package dev.cay.mcp.protocol.stream;

import org.jspecify.annotations.NullMarked;
