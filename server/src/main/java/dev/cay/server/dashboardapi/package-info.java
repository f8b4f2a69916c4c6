/// What E2B's own dashboard asks beside the routes that all clients use: {@link
/// dev.cay.server.dashboardapi.DashboardApi}.
/// It reads, and changes nothing.
@NullMarked
package dev.cay.server.dashboardapi;

import org.jspecify.annotations.NullMarked;
