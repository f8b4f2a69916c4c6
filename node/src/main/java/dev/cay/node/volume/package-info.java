/// Volumes of this machine: {@link dev.cay.node.volume.Volumes} implements the interface for servers.
///
/// `storage` has their directories, `files` reads and writes their files, and `sandbox` knows which sandboxes mount
/// them.
@NullMarked
package dev.cay.node.volume;

import org.jspecify.annotations.NullMarked;
