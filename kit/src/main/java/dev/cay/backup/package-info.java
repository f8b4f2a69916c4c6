/// The form of a backup: named parts in one stream, each with its SHA-256, and at the end a list of all of them.
///
/// {@link dev.cay.backup.BackupWriter} writes it, {@link dev.cay.backup.BackupReader} reads and checks it. What parts
/// mean is not known here, but for the {@link dev.cay.backup.Manifest}, which is the first.
@NullMarked
package dev.cay.backup;

import org.jspecify.annotations.NullMarked;
