/// What was done in sandboxes, of the last week: commands, files, their beginning and end. Never what they printed.
///
/// Start at {@link dev.cay.server.log.SandboxLogs}. Lines come from the node; the beginning and the end are events,
/// read where they lie.
@NullMarked
package dev.cay.server.log;

import org.jspecify.annotations.NullMarked;
