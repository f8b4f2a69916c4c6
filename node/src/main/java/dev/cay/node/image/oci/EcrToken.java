package dev.cay.node.image.oci;

import dev.cay.http.Json;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.net.URI;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.regex.Pattern;
import tools.jackson.core.JacksonException;

/// Exchanges keys of AWS for a password of its registries, which holds for some hours.
final class EcrToken {
    private static final int LONGEST_ANSWER = 1 << 20;
    private static final Pattern REGION = Pattern.compile("[a-z0-9-]{1,40}");

    private final RegistryHttp http;
    private final RegistryCredentials.Aws keys;

    EcrToken(RegistryHttp http, RegistryCredentials.Aws keys) {
        this.http = http;
        this.keys = keys;
    }

    /// The value of `Authorization` for the registry.
    String header() throws IOException {
        if (!REGION.matcher(keys.region()).matches()) {
            throw new CayException(ErrorKind.INVALID_ARGUMENT, "the AWS region of the credentials is none");
        }
        var endpoint = keys.endpoint();
        var uri = endpoint != null
                ? endpoint.resolve("/")
                : URI.create("https://api.ecr.%s.amazonaws.com/".formatted(keys.region()));
        var headers = new LinkedHashMap<String, String>();
        headers.put("content-type", "application/x-amz-json-1.1");
        headers.put("x-amz-target", "AmazonEC2ContainerRegistry_V20150921.GetAuthorizationToken");
        if (keys.sessionToken() != null) {
            headers.put("x-amz-security-token", keys.sessionToken());
        }
        var signed = new AwsSignature(keys, "ecr").sign("POST", uri, headers, "{}", Instant.now());
        try (var answer = http.post(uri, signed, "{}")) {
            byte[] body = answer.read(LONGEST_ANSWER, "a token");
            if (answer.status() >= 500) {
                throw new IOException("AWS answers %d when asked for a token".formatted(answer.status()));
            }
            if (answer.status() != 200) {
                throw new CayException(
                        ErrorKind.PERMISSION_DENIED,
                        "AWS refuses the keys for its registry (%d)".formatted(answer.status()));
            }
            String token = Json.mapper()
                    .readTree(body)
                    .path("authorizationData")
                    .path(0)
                    .path("authorizationToken")
                    .asString("");
            if (!token.matches("[A-Za-z0-9+/=_-]{1,20000}")) {
                throw BadImage.because("AWS answers without a token");
            }
            return "Basic " + token;
        } catch (JacksonException e) {
            throw BadImage.because("AWS answers with a token that is no JSON", e);
        }
    }
}
