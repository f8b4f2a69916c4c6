/// A file of bounded size for the latest metrics and logs of many sandboxes.
///
/// Start at {@link dev.cay.server.ring.RingFile}. It knows bytes and keys, not their meaning.
@NullMarked
package dev.cay.server.ring;

import org.jspecify.annotations.NullMarked;
