package dev.cay.sdk;

import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// The address of the server, and the API key. `cay env` prints the variables that {@link #fromEnvironment} reads;
/// E2B's own clients read the same ones.
///
/// @param apiKey         sent with every call to the server
/// @param domain         sandboxes are reached at `PORT-ID.DOMAIN`, unless the server names another domain
/// @param apiUrl         address of the server
/// @param sandboxUrl     one address for the files and processes of all sandboxes, for where host names do not resolve
/// @param requestTimeout limit until an answer begins
/// @param certificates   file of trusted certificate authorities in PEM; null for those of the JDK
public record Settings(
        String apiKey,
        String domain,
        URI apiUrl,
        @Nullable URI sandboxUrl,
        Duration requestTimeout,
        @Nullable Path certificates) {
    private static final String USUAL_DOMAIN = "e2b.app";
    private static final Duration USUAL_TIMEOUT = Duration.ofSeconds(60);

    public Settings {
        if (apiKey.isBlank()) {
            throw new SandboxException(
                    SandboxException.Kind.UNAUTHORIZED, "no API key: set E2B_API_KEY, or give one in the settings");
        }
        if (!requestTimeout.isPositive()) {
            throw new SandboxException(SandboxException.Kind.INVALID, "requestTimeout must be longer than nothing");
        }
        requireWeb("apiUrl", apiUrl);
        if (sandboxUrl != null) {
            requireWeb("sandboxUrl", sandboxUrl);
        }
    }

    /// Reads `E2B_API_KEY`, `E2B_DOMAIN`, `E2B_API_URL`, `E2B_SANDBOX_URL` and `SSL_CERT_FILE` from the environment.
    public static Settings fromEnvironment() {
        return from(System.getenv());
    }

    /// Reads the same variables from a map.
    public static Settings from(Map<String, String> environment) {
        String domain = environment.getOrDefault("E2B_DOMAIN", USUAL_DOMAIN);
        String api = environment.getOrDefault("E2B_API_URL", "https://api." + domain);
        String sandbox = environment.get("E2B_SANDBOX_URL");
        String certificates = environment.get("SSL_CERT_FILE");
        return new Settings(
                environment.getOrDefault("E2B_API_KEY", ""),
                domain,
                uri("E2B_API_URL", api),
                sandbox == null || sandbox.isBlank() ? null : uri("E2B_SANDBOX_URL", sandbox),
                USUAL_TIMEOUT,
                certificates == null || !Files.isReadable(Path.of(certificates)) ? null : Path.of(certificates));
    }

    /// The usual addresses of a server at this domain.
    public static Settings of(String apiKey, String domain) {
        return from(Map.of("E2B_API_KEY", apiKey, "E2B_DOMAIN", domain));
    }

    public Settings withApiKey(String key) {
        return new Settings(key, domain, apiUrl, sandboxUrl, requestTimeout, certificates);
    }

    public Settings withRequestTimeout(Duration timeout) {
        return new Settings(apiKey, domain, apiUrl, sandboxUrl, timeout, certificates);
    }

    public Settings withCertificates(Path file) {
        return new Settings(apiKey, domain, apiUrl, sandboxUrl, requestTimeout, file);
    }

    /// The same settings with explicit addresses, for a server whose host names do not resolve.
    public Settings withUrls(URI api, URI sandbox) {
        return new Settings(apiKey, domain, api, sandbox, requestTimeout, certificates);
    }

    private static URI uri(String name, String text) {
        try {
            return URI.create(text.endsWith("/") ? text.substring(0, text.length() - 1) : text);
        } catch (IllegalArgumentException e) {
            throw new SandboxException(
                    SandboxException.Kind.INVALID, "%s is no address: %s".formatted(name, e.getMessage()), e);
        }
    }

    private static void requireWeb(String name, URI uri) {
        boolean web = "http".equals(uri.getScheme()) || "https".equals(uri.getScheme());
        if (!web || uri.getHost() == null) {
            throw new SandboxException(
                    SandboxException.Kind.INVALID,
                    "%s must begin with http:// or https:// and a host, not be '%s'".formatted(name, uri));
        }
    }

    /// The text leaves out the key.
    @Override
    public String toString() {
        return "Settings[domain=%s, apiUrl=%s, sandboxUrl=%s]".formatted(domain, apiUrl, sandboxUrl);
    }
}
