/// Tells users of a sandbox what changes in its directories: {@link dev.cay.node.watch.Watches}.
///
/// All changes come from one inotify instance of the node, {@link dev.cay.node.watch.WatchHub}. Directories are
/// opened by {@link dev.cay.node.files.FileTree}, which knows nobody here. HTTP is not known here.
@NullMarked
package dev.cay.node.watch;

import org.jspecify.annotations.NullMarked;
