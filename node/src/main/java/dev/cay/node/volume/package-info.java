/// Volumes of this machine: {@link dev.cay.node.volume.Volumes} is what servers see of them.
///
/// Where their files lie is known to `storage`, what is done in them to `files`, and who has them mounted to `sandbox`.
@NullMarked
package dev.cay.node.volume;

import org.jspecify.annotations.NullMarked;
