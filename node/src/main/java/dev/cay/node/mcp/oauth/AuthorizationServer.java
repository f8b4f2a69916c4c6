package dev.cay.node.mcp.oauth;

import java.net.URI;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The metadata of an authorization server, checked.
///
/// @param issuer         its name, which is also the address of its metadata
/// @param authorization  page on which users grant authorizations
/// @param token          endpoint that exchanges codes and refresh tokens for tokens
/// @param registration   endpoint at which clients register; null without one
/// @param revocation     endpoint that revokes tokens; null without one
/// @param namesIssuer    whether it adds `iss` to redirects
/// @param readsDocuments whether it accepts the address of a document as a client id
/// @param offline        whether a refresh token has a scope of its own
/// @param clientMethods  how clients may authenticate at `token`; empty if unknown
record AuthorizationServer(
        String issuer,
        URI authorization,
        URI token,
        @Nullable URI registration,
        @Nullable URI revocation,
        boolean namesIssuer,
        boolean readsDocuments,
        boolean offline,
        List<String> clientMethods) {
    AuthorizationServer {
        clientMethods = List.copyOf(clientMethods);
    }
}
