/// The files of a sandbox as its users see them: {@link dev.cay.node.files.FileTree}.
///
/// Paths are resolved by the kernel below the sandbox's root, so no link inside leads out of it. HTTP is
/// not known here.
@NullMarked
package dev.cay.node.files;

import org.jspecify.annotations.NullMarked;
