/// What sandboxes use, of the last day, and how many of them teams had, of the last week; and the page for Prometheus.
///
/// Start at {@link dev.cay.server.metrics.SandboxMetrics}. How a sandbox is measured is the node's business.
@NullMarked
package dev.cay.server.metrics;

import org.jspecify.annotations.NullMarked;
