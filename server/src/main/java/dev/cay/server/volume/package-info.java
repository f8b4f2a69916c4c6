/// Volumes of teams: files that outlive sandboxes, and that several of these can mount at once.
///
/// {@link dev.cay.server.volume.Volumes} owns the records; the node has the files. Sandboxes and templates refer to
/// volumes by {@link dev.cay.server.volume.MountedVolume}, and are not known here but as rows of the store.
@NullMarked
package dev.cay.server.volume;

import org.jspecify.annotations.NullMarked;
