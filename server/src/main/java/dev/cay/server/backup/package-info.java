/// Backups of the whole installation while it serves.
///
/// {@link dev.cay.server.backup.Backups} takes the route and the order of things; what is on disks is the node's to
/// give.
@NullMarked
package dev.cay.server.backup;

import org.jspecify.annotations.NullMarked;
