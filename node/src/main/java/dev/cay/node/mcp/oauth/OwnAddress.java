package dev.cay.node.mcp.oauth;

import java.net.URI;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// The address at which users' browsers reach this Cay.
///
/// @param base address of the API, without a slash at its end
record OwnAddress(String base) {
    static final String NAME = "Cay";

    /// The address to which authorization servers send browsers back.
    String redirect() {
        return base + "/mcp/oauth/callback";
    }

    /// Whether only browsers on the same machine reach it.
    private boolean isLocal() {
        String host = String.valueOf(URI.create(base).getHost());
        return host.equals("localhost")
                || host.endsWith(".localhost")
                || host.equals("[::1]")
                || host.startsWith("127.");
    }

    /// The id of this Cay for authorization servers that read a document instead of a registration; empty where they
    /// could not read it.
    Optional<String> document() {
        return base.startsWith("https://") && !isLocal()
                ? Optional.of(base + "/mcp/oauth/client.json")
                : Optional.empty();
    }

    /// The metadata of this client.
    ///
    /// @param method of authentication; null for the authorization server's default
    Map<String, Object> metadata(@Nullable String method) {
        var metadata = new LinkedHashMap<String, Object>();
        metadata.put("client_name", NAME);
        metadata.put("redirect_uris", List.of(redirect()));
        metadata.put("grant_types", List.of("authorization_code", "refresh_token"));
        metadata.put("response_types", List.of("code"));
        metadata.put("application_type", isLocal() ? "native" : "web");
        if (method != null) {
            metadata.put("token_endpoint_auth_method", method);
        }
        return metadata;
    }
}
