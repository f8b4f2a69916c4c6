package dev.cay.node.mcp.oauth;

import dev.cay.web.Dialer;
import dev.cay.web.UrlOrigin;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/// Finds the authorization server of an MCP server: by the server's own description (RFC 9728), and by that of the
/// authorization server it names (RFC 8414, or OpenID Connect Discovery). Servers of revision 2025-03-26 have no
/// description of their own; there the authorization server is the same host.
final class Discovery {
    private static final int LONGEST_URL = 2048;
    private static final String RESOURCE = "/.well-known/oauth-protected-resource";
    private static final String OAUTH = "/.well-known/oauth-authorization-server";
    private static final String OPENID = "/.well-known/openid-configuration";

    /// @param resource what tokens are asked for
    /// @param scopes   what a token should allow; empty for what the authorization server thinks right
    record Found(AuthorizationServer server, String resource, List<String> scopes) {}

    private final OAuthWeb web;

    Discovery(OAuthWeb web) {
        this.web = web;
    }

    /// @param url of the MCP server
    /// @throws CayException with a sentence that says what is wrong with the descriptions
    Found find(URI url, BearerChallenge challenge) {
        try {
            var description = resource(url, challenge.metadata());
            if (description.isEmpty()) {
                String origin = origin(url);
                return new Found(server(url, List.of(origin, origin + "/")), canonical(url), challenge.scopes());
            }
            var issuers = texts(description.get().path("authorization_servers"));
            if (issuers.isEmpty()) {
                throw wrong("it names no authorization server");
            }
            var scopes = challenge.scopes().isEmpty()
                    ? BearerChallenge.scopes(
                            String.join(" ", texts(description.get().path("scopes_supported"))))
                    : challenge.scopes();
            return new Found(
                    server(url, issuers.subList(0, 1)),
                    description.get().path("resource").asString(""),
                    scopes);
        } catch (IOException e) {
            throw wrong(Dialer.why(e));
        }
    }

    private Optional<JsonNode> resource(URI url, @Nullable String named) throws IOException {
        if (named != null) {
            var found = web.get(address(named, url));
            return Optional.of(checked(found.orElseThrow(() -> wrong("its description cannot be fetched")), url));
        }
        for (String path : List.of(RESOURCE + path(url), RESOURCE)) {
            var found = web.get(URI.create(origin(url) + path));
            if (found.isPresent()) {
                return Optional.of(checked(found.get(), url));
            }
        }
        return Optional.empty();
    }

    /// Checks that a description is about this server. Otherwise Cay would fetch tokens for another one, and show them
    /// to this one.
    private static JsonNode checked(JsonNode description, URI url) {
        String text = description.path("resource").asString("");
        try {
            var resource = address(text, url);
            String path = path(resource);
            boolean holds = path(url).equals(path) || path(url).startsWith(path + "/");
            if (!UrlOrigin.of(resource).equals(UrlOrigin.of(url)) || !holds) {
                throw wrong("its description is about another server");
            }
        } catch (CayException e) {
            throw wrong("its description is about another server");
        }
        return description;
    }

    /// The first of the issuers that has a description.
    private AuthorizationServer server(URI url, List<String> issuers) throws IOException {
        boolean other = false;
        for (String issuer : issuers) {
            for (URI place : places(address(issuer, url))) {
                var found = web.get(place);
                if (found.isPresent() && found.get().path("issuer").asString("").equals(issuer)) {
                    return server(issuer, found.get());
                }
                other |= found.isPresent();
            }
        }
        throw wrong(
                other
                        ? "the description of its authorization server names another issuer"
                        : "its authorization server has no description");
    }

    /// The addresses of the metadata, in the order in which they are tried.
    private static List<URI> places(URI issuer) {
        String path = path(issuer);
        var places = new ArrayList<String>();
        places.add(OAUTH + path);
        places.add(OPENID + path);
        if (!path.isEmpty()) {
            places.add(path + OPENID);
        }
        return places.stream().map(place -> URI.create(origin(issuer) + place)).toList();
    }

    private static AuthorizationServer server(String issuer, JsonNode said) {
        var from = URI.create(issuer);
        if (!texts(said.path("code_challenge_methods_supported")).contains("S256")) {
            throw wrong("its authorization server does not protect codes (PKCE with S256)");
        }
        return new AuthorizationServer(
                issuer,
                required(said, "authorization_endpoint", from),
                required(said, "token_endpoint", from),
                endpoint(said, "registration_endpoint", from),
                endpoint(said, "revocation_endpoint", from),
                said.path("authorization_response_iss_parameter_supported").asBoolean(false),
                said.path("client_id_metadata_document_supported").asBoolean(false),
                texts(said.path("scopes_supported")).contains("offline_access"),
                texts(said.path("token_endpoint_auth_methods_supported")));
    }

    private static URI required(JsonNode said, String name, URI from) {
        var found = endpoint(said, name, from);
        if (found == null) {
            throw wrong("its authorization server has no " + name);
        }
        return found;
    }

    private static @Nullable URI endpoint(JsonNode said, String name, URI from) {
        return said.has(name) ? address(said.path(name).asString(""), from) : null;
    }

    /// Checks an address that a server named. The scheme matters also for addresses that only a browser opens.
    ///
    /// @param from the address of the server; an https server must name https addresses
    private static URI address(String text, URI from) {
        try {
            var url = new URI(text);
            boolean secure = "https".equalsIgnoreCase(url.getScheme());
            boolean plain = "http".equalsIgnoreCase(url.getScheme())
                    && !UrlOrigin.of(from).secure();
            if (text.length() <= LONGEST_URL
                    && (secure || plain)
                    && url.getHost() != null
                    && url.getRawUserInfo() == null
                    && url.getRawFragment() == null) {
                return url;
            }
        } catch (URISyntaxException _) {
            // Treated like any other invalid address.
        }
        throw wrong("it names an address that is none, or not by https");
    }

    private static List<String> texts(JsonNode array) {
        return array.isArray()
                ? array.valueStream()
                        .filter(JsonNode::isString)
                        .map(JsonNode::asString)
                        .limit(256)
                        .toList()
                : List.of();
    }

    /// The address without its query, which may have a credential of the user.
    static String canonical(URI url) {
        return origin(url) + path(url);
    }

    private static String origin(URI url) {
        return "%s://%s".formatted(url.getScheme(), url.getRawAuthority());
    }

    private static String path(URI url) {
        String path = url.getRawPath();
        return path == null ? "" : path.endsWith("/") ? path.substring(0, path.length() - 1) : path;
    }

    private static CayException wrong(String what) {
        return new CayException(ErrorKind.FAILED, what);
    }
}
