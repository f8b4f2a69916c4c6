package dev.cay.sdk;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// The address and tokens of one sandbox, as the server sent them.
///
/// @param token        for its files and processes; null if none is needed
/// @param trafficToken for its ports; null if none is needed
record SandboxEndpoint(
        Settings settings,
        String id,
        String domain,
        @Nullable String token,
        @Nullable String trafficToken) {
    static final int SYSTEM = 49983;
    static final int INTERPRETER = 49999;
    static final int MCP = 50005;

    /// Domains of E2B's cloud in which one host serves the files and processes of all sandboxes.
    private static final Set<String> SHARED_HOSTS = Set.of("e2b.app", "e2b.dev", "e2b.pro", "e2b-staging.dev");

    String host(int port) {
        return "%d-%s.%s".formatted(port, id, domain);
    }

    /// @param path the path and query
    HttpRequest.Builder request(int port, String path) {
        var uri = URI.create(base(port) + path);
        var request = HttpRequest.newBuilder(uri)
                .version(port == INTERPRETER ? HttpClient.Version.HTTP_1_1 : Api.versionFor(uri))
                .timeout(settings.requestTimeout())
                .header("User-Agent", Api.AGENT)
                .header("E2b-Sandbox-Id", id)
                .header("E2b-Sandbox-Port", Integer.toString(port));
        if (token != null) {
            request.header("X-Access-Token", token);
        }
        if (trafficToken != null) {
            request.header("E2B-Traffic-Access-Token", trafficToken);
        }
        return request;
    }

    private String base(int port) {
        if (settings.sandboxUrl() != null) {
            return settings.sandboxUrl().toString();
        }
        return port == SYSTEM && SHARED_HOSTS.contains(domain) ? "https://sandbox." + domain : "https://" + host(port);
    }

    /// A URL of files for clients that send no headers.
    URI files(String query) {
        String base = settings.sandboxUrl() == null
                ? "https://" + host(SYSTEM)
                : settings.sandboxUrl().toString();
        return URI.create(base + "/files" + query);
    }

    static void as(HttpRequest.Builder request, @Nullable String user) {
        if (user != null) {
            byte[] name = (user + ":").getBytes(StandardCharsets.UTF_8);
            request.header("Authorization", "Basic " + Base64.getEncoder().encodeToString(name));
        }
    }
}
