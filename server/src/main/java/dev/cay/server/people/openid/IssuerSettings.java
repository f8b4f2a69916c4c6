package dev.cay.server.people.openid;

import java.net.URI;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/// What an operator says about the issuer.
///
/// @param clientId   by which it knows this server
/// @param secretFile holds the client secret, read at each sign-in; null for a client without one
public record IssuerSettings(
        URI url, String clientId, @Nullable Path secretFile) {}
