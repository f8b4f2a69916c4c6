package dev.cay.node.image.oci;

import dev.cay.http.Json;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;

/// Authentication at a registry for one repository: nothing until it asks, then a token or a password. Thread-safe.
final class RegistryAuth {
    private static final int LONGEST_ANSWER = 1 << 20;

    private final RegistryHttp http;
    private final URI base;
    private final String repository;
    private final RegistryCredentials credentials;
    private final String actions;
    private String header = "";

    /// @param actions what is going to be done, like `pull,push`
    RegistryAuth(RegistryHttp http, URI base, String repository, RegistryCredentials credentials, String actions) {
        this.http = http;
        this.base = base;
        this.repository = repository;
        this.credentials = credentials;
        this.actions = actions;
    }

    /// The value of `Authorization`; empty for none.
    synchronized String header() {
        return header;
    }

    /// Answers what the registry asked for.
    ///
    /// @param used the header that was refused
    /// @return false if there is nothing else to show
    synchronized boolean answer(List<String> challenges, String used) throws IOException {
        if (!header.equals(used)) {
            return true; // Another request has asked meanwhile.
        }
        String before = header;
        for (var challenge : RegistryChallenge.parse(challenges)) {
            if (challenge.scheme().equals("bearer")) {
                header = "Bearer " + token(challenge);
                // Tokens end; one that was accepted before may be asked for again.
                return !header.equals(before);
            }
            String basic = basic();
            if (challenge.scheme().equals("basic") && basic != null) {
                header = basic;
                return !header.equals(before);
            }
        }
        return false;
    }

    private String token(RegistryChallenge challenge) throws IOException {
        var realm = realm(challenge.parameter("realm"));
        String query = "service=" + encoded(challenge.parameter("service")) + "&scope="
                + encoded("repository:%s:%s".formatted(repository, actions));
        var uri = URI.create(realm + (realm.getRawQuery() == null ? "?" : "&") + query);
        String basic = basic();
        try (var answer = http.get(uri, basic == null ? Map.of() : Map.of("Authorization", basic))) {
            if (answer.status() == 401 || answer.status() == 403) {
                throw refused(base.getHost(), credentials);
            }
            if (answer.status() != 200) {
                throw new IOException(
                        "%s answers %d when asked for a token".formatted(realm.getHost(), answer.status()));
            }
            var json = Json.mapper().readTree(answer.read(LONGEST_ANSWER, "a token"));
            String token = json.path("token").asString(json.path("access_token").asString(""));
            if (!token.matches("[\\x21-\\x7e]{1,100000}")) {
                throw BadImage.because("%s answers without a token".formatted(realm.getHost()));
            }
            return token;
        } catch (JacksonException e) {
            throw BadImage.because("%s answers with a token that is no JSON".formatted(realm.getHost()), e);
        }
    }

    private URI realm(String text) throws IOException {
        try {
            var realm = URI.create(text);
            if (realm.getRawFragment() == null) {
                return http.requireAllowed(realm, base);
            }
        } catch (IllegalArgumentException _) {
            // Said below.
        }
        throw BadImage.because("%s asks for a token of a place that is no address".formatted(base.getHost()));
    }

    private @Nullable String basic() throws IOException {
        return switch (credentials) {
            case RegistryCredentials.None _ -> null;
            case RegistryCredentials.Password(String user, String password) -> basic(user, password);
            case RegistryCredentials.Gcp(String key) -> basic("_json_key", key);
            case RegistryCredentials.Aws aws -> new EcrToken(http, aws).header();
        };
    }

    static String basic(String user, String password) {
        byte[] both = (user + ":" + password).getBytes(StandardCharsets.UTF_8);
        return "Basic " + Base64.getEncoder().encodeToString(both);
    }

    private static String encoded(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8);
    }

    static CayException refused(@Nullable String host, RegistryCredentials credentials) {
        return new CayException(
                ErrorKind.PERMISSION_DENIED,
                credentials instanceof RegistryCredentials.None
                        ? "the registry %s wants credentials for this image, or has no such image".formatted(host)
                        : "the registry %s refuses the credentials for this image".formatted(host));
    }
}
