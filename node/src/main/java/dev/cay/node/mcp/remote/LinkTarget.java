package dev.cay.node.mcp.remote;

import java.net.URI;
import java.util.function.Supplier;

/// What a link needs to know of the server it is for.
///
/// @param name   what users know it by
/// @param url    never shown, as it may hold a credential
/// @param client the link's own, closed with it
/// @param other  makes another for what is said after that
record LinkTarget(String name, URI url, Limits limits, WebClient client, Supplier<WebClient> other) {}
