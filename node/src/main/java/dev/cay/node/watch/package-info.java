/// Reports changes in directories of a sandbox: {@link dev.cay.node.watch.Watches}.
///
/// All events come from one inotify instance of the node, {@link dev.cay.node.watch.WatchHub}. {@link
/// dev.cay.node.files.FileTree} opens the directories and does not know this package. HTTP is not known here.
@NullMarked
package dev.cay.node.watch;

import org.jspecify.annotations.NullMarked;
