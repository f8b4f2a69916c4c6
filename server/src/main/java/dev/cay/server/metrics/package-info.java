/// Resource use of sandboxes for a day, numbers of sandboxes by team for a week, and the page for Prometheus.
///
/// Start at {@link dev.cay.server.metrics.SandboxMetrics}. The node measures sandboxes.
@NullMarked
package dev.cay.server.metrics;

import org.jspecify.annotations.NullMarked;
