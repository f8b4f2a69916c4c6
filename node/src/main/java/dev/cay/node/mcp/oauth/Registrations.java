package dev.cay.node.mcp.oauth;

import dev.cay.http.Json;
import dev.cay.node.mcp.catalog.ServerOverride;
import dev.cay.node.mcp.seal.Seal;
import dev.cay.web.Dialer;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// The client ids of this Cay at authorization servers. One registration serves all sandboxes; it is stored by the name
/// of its authorization server, and never shown to another one. Thread-safe.
final class Registrations {
    /// Users name servers, and each may name authorization servers without end.
    private static final int MOST = 256;

    private static final Pattern VISIBLE = Pattern.compile("[\\x20-\\x7e]{1,2048}");

    private final OwnAddress own;
    private final SealedTree file;
    private final InstantSource clock;

    Registrations(OwnAddress own, Seal seal, Path file, InstantSource clock) {
        this.own = own;
        this.file = new SealedTree(seal, file);
        this.clock = clock;
    }

    /// The operator's client, else an existing registration, else a new one.
    ///
    /// @param given the operator's settings; null for none
    OAuthClient client(AuthorizationServer server, OAuthWeb web, ServerOverride.@Nullable OAuth given) {
        if (given != null && given.clientId() != null) {
            return operators(server, given);
        }
        var known = find(server.issuer());
        if (known.isPresent()) {
            return known.get();
        }
        var place = server.registration();
        if (place != null) {
            return register(server, web, place);
        }
        // Tried after the registration, because the authorization server may not be able to reach this Cay.
        return own.document()
                .filter(_ -> server.readsDocuments())
                .map(id -> new OAuthClient(id, null, OAuthClient.NONE, 0))
                .orElseThrow(() -> failed(
                        "its authorization server %s takes no registrations; let the operator register this Cay there, with"
                                        .formatted(host(server))
                                + " the redirect address %s, and set mcp.servers.KEY.oauth: {clientId}"
                                        .formatted(own.redirect())));
    }

    private static OAuthClient operators(AuthorizationServer server, ServerOverride.OAuth given) {
        if (given.issuer() != null && !given.issuer().equals(server.issuer())) {
            throw failed("its authorization server is %s, and not the one that mcp.servers.KEY.oauth names"
                    .formatted(host(server)));
        }
        String secret = given.clientSecret();
        boolean post = server.clientMethods().contains(OAuthClient.POST)
                && !server.clientMethods().contains(OAuthClient.BASIC);
        String method = secret == null ? OAuthClient.NONE : post ? OAuthClient.POST : OAuthClient.BASIC;
        return new OAuthClient(Objects.requireNonNull(given.clientId()), secret, method, 0);
    }

    private OAuthClient register(AuthorizationServer server, OAuthWeb web, URI place) {
        var wanted = Json.mapper().valueToTree(own.metadata(method(server.clientMethods())));
        OAuthWeb.Answer answer;
        try {
            answer = web.post(place, wanted);
        } catch (IOException e) {
            throw failed("its authorization server does not register this Cay: " + Dialer.why(e));
        }
        String id = answer.json().path("client_id").asString("");
        String secret = answer.json().path("client_secret").asString("");
        if (!answer.succeeded() || !VISIBLE.matcher(id).matches()) {
            String error = answer.json().path("error").asString("");
            throw failed("its authorization server refuses to register this Cay (HTTP %d%s)"
                    .formatted(answer.status(), error.matches("[a-z_]{1,64}") ? ", " + error : ""));
        }
        String method = answer.json()
                .path("token_endpoint_auth_method")
                .asString(secret.isEmpty() ? OAuthClient.NONE : OAuthClient.BASIC);
        var client = new OAuthClient(
                id,
                secret.isEmpty() ? null : secret,
                method,
                answer.json().path("client_secret_expires_at").asLong(0));
        keep(server.issuer(), client);
        return client;
    }

    private static String method(List<String> offered) {
        return List.of(OAuthClient.NONE, OAuthClient.BASIC, OAuthClient.POST).stream()
                .filter(offered::contains)
                .findFirst()
                .orElse(OAuthClient.NONE);
    }

    private synchronized Optional<OAuthClient> find(String issuer) {
        var known = file.read().path(key(issuer));
        return known.isObject()
                ? Optional.of(OAuthClient.of(known)).filter(client -> client.isGood(clock.instant()))
                : Optional.empty();
    }

    private synchronized void keep(String issuer, OAuthClient client) {
        var tree = file.read();
        tree.remove(key(issuer));
        while (tree.size() >= MOST) {
            tree.remove(tree.propertyNames().iterator().next());
        }
        tree.set(key(issuer), client.tree());
        file.write(tree);
    }

    /// An authorization server does not know it any more.
    synchronized void forget(String issuer, OAuthClient client) {
        var tree = file.read();
        if (tree.path(key(issuer)).path("id").asString("").equals(client.id())) {
            tree.remove(key(issuer));
            file.write(tree);
        }
    }

    /// A registration is for one redirect address.
    private String key(String issuer) {
        return own.redirect() + " " + issuer;
    }

    private static String host(AuthorizationServer server) {
        return String.valueOf(URI.create(server.issuer()).getHost());
    }

    private static CayException failed(String message) {
        return new CayException(ErrorKind.FAILED, message);
    }
}
