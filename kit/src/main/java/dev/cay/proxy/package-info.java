/// The last hop into a sandbox: {@link dev.cay.proxy.ReverseProxy} passes an exchange on to a server inside, over
/// HTTP/1.1 with connections that are used again, over HTTP/2 for gRPC, or as a tunnel after an upgrade.
///
/// Beside `dev.cay.http` the only package that knows Jetty: it streams bodies without copies. Which socket leads to the
/// server is the caller's business.
@NullMarked
package dev.cay.proxy;

import org.jspecify.annotations.NullMarked;
