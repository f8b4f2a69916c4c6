/// HTTP for every program of Cay. Only this package and `dev.cay.proxy` know Jetty.
///
/// An {@link dev.cay.http.Exchange} is one request with its answer; a {@link dev.cay.http.Handler} answers it, on a
/// virtual thread, with blocking calls. {@link dev.cay.http.HttpListeners} accepts them, from host ports and from
/// sockets opened inside sandboxes alike. {@link dev.cay.http.Routes} finds the handler, {@link dev.cay.http.Json}
/// reads and writes bodies. Each exchange has one virtual thread that may block; the rest is Jetty's selectors.
///
/// What must not be known here: sandboxes' states, keys, files.
@NullMarked
package dev.cay.http;

import org.jspecify.annotations.NullMarked;
