/// A file of bounded size that remembers the latest of many sandboxes: what they used, what was done in them.
///
/// Start at {@link dev.cay.server.ring.RingFile}. Knows bytes and keys, not what they mean.
@NullMarked
package dev.cay.server.ring;

import org.jspecify.annotations.NullMarked;
