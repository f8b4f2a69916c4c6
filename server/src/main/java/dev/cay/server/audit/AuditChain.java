package dev.cay.server.audit;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Optional;
import java.util.regex.Pattern;

/// The hash chain of entries, and the form of an entry as a line: the body with the hash as its last field.
public final class AuditChain {
    /// The hash before the first entry.
    public static final String BEGINNING = "0".repeat(64);

    private static final Pattern LINE = Pattern.compile("(\\{.*),\"hash\":\"([0-9a-f]{64})\"}");
    private static final Pattern SEQUENCE = Pattern.compile(",\"sequence\":(\\d{1,18})[,}]");

    private AuditChain() {}

    /// An entry as it is listed and exported.
    ///
    /// @param body the text that is hashed, together with the hash of the entry before
    public record Link(long sequence, String body, String hash) {
        /// @return nothing if the line is no entry
        public static Optional<Link> parse(String line) {
            var found = LINE.matcher(line);
            if (!found.matches()) {
                return Optional.empty();
            }
            String body = found.group(1) + "}";
            var sequence = SEQUENCE.matcher(body);
            return sequence.find()
                    ? Optional.of(new Link(Long.parseLong(sequence.group(1)), body, found.group(2)))
                    : Optional.empty();
        }

        public String line() {
            return "%s,\"hash\":\"%s\"}".formatted(body.substring(0, body.length() - 1), hash);
        }

        /// Whether this is what followed an entry with that hash.
        public boolean follows(String previous) {
            return hash.equals(AuditChain.hash(previous, body));
        }
    }

    static String hash(String previous, String body) {
        try {
            var digest = MessageDigest.getInstance("SHA-256");
            digest.update(previous.getBytes(StandardCharsets.US_ASCII));
            digest.update((byte) '\n');
            return HexFormat.of().formatHex(digest.digest(body.getBytes(StandardCharsets.UTF_8)));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }
}
