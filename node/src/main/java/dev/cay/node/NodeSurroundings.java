package dev.cay.node;

import dev.cay.http.Handler;
import dev.cay.http.HttpListeners;
import dev.cay.metrics.Meters;
import java.nio.file.Path;
import javax.net.ssl.SSLContext;

/// What a node gets from the daemon it is in.
///
/// @param edge      answers what comes to the edge's port inside a sandbox
/// @param tls       shown there
/// @param authority PEM file of the CA that signed it, trusted inside
/// @param meters    where it counts
public record NodeSurroundings(HttpListeners listeners, Handler edge, SSLContext tls, Path authority, Meters meters) {}
