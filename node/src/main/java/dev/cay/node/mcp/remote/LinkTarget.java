package dev.cay.node.mcp.remote;

import java.net.URI;
import java.util.function.Supplier;

/// The server of a link.
///
/// @param name   its name for users
/// @param url    never shown, because it may contain a credential
/// @param client the link's own, closed with it
/// @param other  makes another one for messages after that
record LinkTarget(String name, URI url, Limits limits, WebClient client, Supplier<WebClient> other) {}
