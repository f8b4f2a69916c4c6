/// Logs of sandboxes for a week: commands, file changes, start and end. Never the output of commands.
///
/// Start at {@link dev.cay.server.log.SandboxLogs}. Lines come from the node; start and end are events, read from the
/// database. {@link dev.cay.server.log.LogShipper} sends all of it to an OTLP receiver, and the logs of builds too, by
/// the JDK's HTTP client and OTLP's JSON: queue, limits and counters are Cay's own anyway, and OpenTelemetry's SDK
/// would
/// add only the encoding.
@NullMarked
package dev.cay.server.log;

import org.jspecify.annotations.NullMarked;
