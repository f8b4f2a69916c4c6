/// Ownership of resources: {@link dev.cay.life.Undo} for resources taken in a row, {@link dev.cay.life.TaskGroup} for
/// threads that live in a block, {@link dev.cay.life.Trees} for directories.
@NullMarked
package dev.cay.life;

import org.jspecify.annotations.NullMarked;
