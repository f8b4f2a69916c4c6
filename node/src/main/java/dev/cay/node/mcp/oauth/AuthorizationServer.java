package dev.cay.node.mcp.oauth;

import java.net.URI;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// What an authorization server says of itself, checked.
///
/// @param issuer           its name, which is also where its description was found
/// @param authorization    where users grant authorizations, in a browser
/// @param token            where codes and refresh tokens are exchanged for tokens
/// @param registration     where clients register themselves; null if they cannot
/// @param revocation       where tokens are revoked; null if they cannot be
/// @param namesIssuer      whether it names itself in what browsers bring back
/// @param readsDocuments   whether it takes the address of a document as the id of a client
/// @param offline          whether a refresh token has a scope of its own
/// @param clientMethods    how clients may identify themselves at `token`; empty if it does not say
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
