/// The words that cross a border: ids, errors, the REST records and the sandbox RPC's messages.
///
/// Start reading at {@link dev.cay.wire.SandboxId} and {@link dev.cay.wire.node.Node}. Nothing here stores or sends;
/// this room imports no other room.
@NullMarked
package dev.cay.wire;

import org.jspecify.annotations.NullMarked;
