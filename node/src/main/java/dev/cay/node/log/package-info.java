/// Reports actions in sandboxes to servers. {@link dev.cay.node.log.SandboxLog} is passed to every class that logs such
/// an action.
@NullMarked
package dev.cay.node.log;

import org.jspecify.annotations.NullMarked;
