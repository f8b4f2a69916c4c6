/// Backups of the whole installation while it serves.
///
/// {@link dev.cay.server.backup.Backups} has the route and the order of steps; the node reads the disks.
@NullMarked
package dev.cay.server.backup;

import org.jspecify.annotations.NullMarked;
