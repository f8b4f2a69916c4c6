/// What was done in sandboxes, of the last week: commands, files, their beginning and end. Never what they printed.
///
/// Start at {@link dev.cay.server.log.SandboxLogs}. Lines come from the node; the beginning and the end are events,
/// read where they lie. {@link dev.cay.server.log.LogShipper} sends all of it to an OTLP receiver, by the JDK's
/// HTTP client and OTLP's JSON: queue, limits and counts are Cay's own anyway, and OpenTelemetry's SDK would add no
/// more than the encoding.
@NullMarked
package dev.cay.server.log;

import org.jspecify.annotations.NullMarked;
