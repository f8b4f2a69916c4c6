package dev.cay.sdk;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// How one sandbox is reached, as the server said when it was made.
///
/// @param token        for its files and processes; null when everybody may
/// @param trafficToken for its ports; null when everybody may
record SandboxEndpoint(
        Settings settings,
        String id,
        String domain,
        @Nullable String token,
        @Nullable String trafficToken) {
    static final int SYSTEM = 49983;
    static final int INTERPRETER = 49999;
    static final int MCP = 50005;

    /// Where E2B itself has one host for the files and processes of all sandboxes.
    private static final Set<String> SHARED_HOSTS = Set.of("e2b.app", "e2b.dev", "e2b.pro", "e2b-staging.dev");

    String host(int port) {
        return "%d-%s.%s".formatted(port, id, domain);
    }

    /// @param path with its query, if it has one
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

    /// For others, who send no headers: it has to say all by itself.
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
