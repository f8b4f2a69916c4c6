/// Types that cross a border between programs: ids, errors, the REST records and the sandbox RPC's messages.
///
/// Start reading at {@link dev.cay.wire.SandboxId} and {@link dev.cay.wire.node.Node}. Nothing here stores or sends
/// data; this package imports no other one of Cay.
@NullMarked
package dev.cay.wire;

import org.jspecify.annotations.NullMarked;
