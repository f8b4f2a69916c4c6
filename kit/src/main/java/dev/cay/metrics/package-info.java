/// Counts what happens in this process, for Prometheus. Every room may count; {@link dev.cay.metrics.Meters} is handed
/// to those that do.
///
/// The only room that knows Prometheus' library. Labels have few values: never an id, a path or a host of a user.
@NullMarked
package dev.cay.metrics;

import org.jspecify.annotations.NullMarked;
