/// HTTP for every program of Cay, and the only room that knows Jetty.
///
/// An {@link dev.cay.http.Exchange} is one request with its answer; a {@link dev.cay.http.Handler} answers it, on a
/// virtual thread, with blocking calls. {@link dev.cay.http.HttpListeners} accepts them, from host ports and from
/// sockets opened inside sandboxes alike. {@link dev.cay.http.Routes} and {@link dev.cay.http.ConnectRoutes} find the
/// handler, {@link dev.cay.http.ReverseProxy} is the last hop into a sandbox, {@link dev.cay.http.LocalAuthority} signs
/// what TLS shows. Each exchange has one virtual thread that may block; the rest is Jetty's selectors.
///
/// What must not be known here: sandboxes' states, keys, files.
@NullMarked
package dev.cay.http;

import org.jspecify.annotations.NullMarked;
