/// FUSE in sandboxes of templates that the operator allows: file systems that programs inside serve, mounted by the
/// node.
///
/// Start with {@link dev.cay.node.fuse.FuseEndpoint}, which answers the program `fusermount3` inside. {@link
/// dev.cay.node.fuse.FuseOptions} says which options are allowed, {@link dev.cay.node.fuse.FuseMounter} has `cay-guest
/// fuse` mount. The list of mounts is read from the kernel each time ({@link dev.cay.node.runtime.FuseMount}).
@NullMarked
package dev.cay.node.fuse;

import org.jspecify.annotations.NullMarked;
