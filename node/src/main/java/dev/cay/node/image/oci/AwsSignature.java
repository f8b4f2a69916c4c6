package dev.cay.node.image.oci;

import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/// Signs requests to AWS by its fourth scheme (SigV4).
final class AwsSignature {
    private static final DateTimeFormatter TIME =
            DateTimeFormatter.ofPattern("yyyyMMdd'T'HHmmss'Z'").withZone(ZoneOffset.UTC);

    private final RegistryCredentials.Aws keys;
    private final String service;

    AwsSignature(RegistryCredentials.Aws keys, String service) {
        this.keys = keys;
        this.service = service;
    }

    /// @param headers names in lower case, all of which are signed
    /// @return the headers to send: the given ones, the time and the signature
    Map<String, String> sign(String method, URI uri, Map<String, String> headers, String body, Instant now) {
        String time = TIME.format(now);
        var signed = new TreeMap<>(headers);
        signed.put("host", uri.getAuthority());
        signed.put("x-amz-date", time);
        String names = String.join(";", signed.keySet());
        String canonical = String.join(
                "\n",
                method,
                uri.getRawPath(),
                query(uri),
                signed.entrySet().stream()
                        .map(header -> header.getKey() + ":" + header.getValue().strip() + "\n")
                        .collect(Collectors.joining()),
                names,
                Digest.of(body).hex());
        String scope = String.join("/", time.substring(0, 8), keys.region(), service, "aws4_request");
        String text = String.join(
                "\n", "AWS4-HMAC-SHA256", time, scope, Digest.of(canonical).hex());
        byte[] key = ("AWS4" + keys.secretAccessKey()).getBytes(StandardCharsets.UTF_8);
        for (String part : scope.split("/")) {
            key = hmac(key, part);
        }
        String signature = HexFormat.of().formatHex(hmac(key, text));
        var result = new LinkedHashMap<>(headers);
        result.put("x-amz-date", time);
        result.put(
                "authorization",
                "AWS4-HMAC-SHA256 Credential=%s/%s, SignedHeaders=%s, Signature=%s"
                        .formatted(keys.accessKeyId(), scope, names, signature));
        return result;
    }

    private static String query(URI uri) {
        String query = uri.getRawQuery();
        return query == null ? "" : Arrays.stream(query.split("&")).sorted().collect(Collectors.joining("&"));
    }

    private static byte[] hmac(byte[] key, String text) {
        try {
            var mac = Mac.getInstance("HmacSHA256");
            mac.init(new SecretKeySpec(key, "HmacSHA256"));
            return mac.doFinal(text.getBytes(StandardCharsets.UTF_8));
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }
}
