package dev.cay.node.ingress;

import dev.cay.http.Exchange;
import dev.cay.wire.AccessToken;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.FileSignature;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/// Permission to read and write files: the access token, or a URL that was signed with it and has not expired.
final class FileAccess {
    private FileAccess() {}

    static void check(Exchange exchange, @Nullable AccessToken token, Instant now) {
        if (token == null) {
            return;
        }
        String given = exchange.header("X-Access-Token");
        if (given != null && !given.isEmpty()) {
            if (!token.matches(given)) {
                throw refused("access token present in header but does not match");
            }
            return;
        }
        String text = exchange.query("signature");
        if (text == null || text.isEmpty()) {
            throw refused("missing signature query parameter");
        }
        var signature = FileSignature.of(exchange.method(), exchange::query).filter(any -> any.madeWith(token));
        if (signature.isEmpty()) {
            throw refused("invalid signature");
        }
        String expiration = signature.get().expiration();
        if (expiration != null && seconds(expiration) < now.getEpochSecond()) {
            throw refused("signature is already expired");
        }
    }

    private static long seconds(String text) {
        try {
            return Long.parseLong(text);
        } catch (NumberFormatException e) {
            throw refused("invalid signature");
        }
    }

    private static CayException refused(String message) {
        return new CayException(ErrorKind.UNAUTHENTICATED, message);
    }
}
