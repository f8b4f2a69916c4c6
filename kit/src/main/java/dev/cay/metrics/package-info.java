/// Counts what happens in this process, for Prometheus. {@link dev.cay.metrics.Meters} is passed to every class that
/// counts.
///
/// This is the only package that knows Prometheus' library. Labels have few values: never an id, a path or a host of a
/// user.
@NullMarked
package dev.cay.metrics;

import org.jspecify.annotations.NullMarked;
