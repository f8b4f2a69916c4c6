/// Tells servers what is done in sandboxes. {@link dev.cay.node.log.SandboxLog} is handed to whoever does something.
@NullMarked
package dev.cay.node.log;

import org.jspecify.annotations.NullMarked;
