/// The dashboard: a program for browsers that shows sandboxes, and what it needs of this server.
///
/// Start at {@link dev.cay.server.dashboard.Dashboard}, which answers every request below `/dashboard`. A browser
/// shows a cookie, which counts below `/dashboard` only. {@link dev.cay.server.dashboard.Relay} turns it into a
/// credential and passes the request on to the API, or to the system ports of a sandbox.
///
/// This package has no rights of its own: the API decides what a credential may do, as for any other client.
@NullMarked
package dev.cay.server.dashboard;

import org.jspecify.annotations.NullMarked;
