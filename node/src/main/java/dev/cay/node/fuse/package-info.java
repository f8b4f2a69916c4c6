/// FUSE in sandboxes whose templates the operator names: file systems that programs inside serve, mounted by the node.
///
/// Start with {@link dev.cay.node.fuse.FuseDoor}, which answers the program `fusermount3` inside. {@link
/// dev.cay.node.fuse.FuseOptions} says what may be mounted how, {@link dev.cay.node.fuse.FuseMounter} has
/// `cay-guest fuse` do it. Which file systems are mounted is read from the kernel each time
/// ({@link dev.cay.node.runtime.FuseMount}).
@NullMarked
package dev.cay.node.fuse;

import org.jspecify.annotations.NullMarked;
