/// Connect RPC, as the protocol of sandboxes speaks it: unary calls and streams, in JSON and in protobuf.
///
/// {@link dev.cay.connect.ConnectRoutes} finds the call by its path, reads and writes the messages, and keeps to the
/// client's deadline. Knows HTTP only as an {@link dev.cay.http.Exchange}.
@NullMarked
package dev.cay.connect;

import org.jspecify.annotations.NullMarked;
