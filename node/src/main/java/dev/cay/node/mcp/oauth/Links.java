package dev.cay.node.mcp.oauth;

import dev.cay.wire.node.NodeAuthorizations.Authorized;
import dev.cay.wire.node.NodeAuthorizations.Redirect;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Base64;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// The links by which users can grant authorizations now, by their states. A state cannot be guessed, is good for ten
/// minutes, and once. Thread-safe.
final class Links {
    /// How long a link is valid.
    static final Duration GOOD = Duration.ofMinutes(10);

    /// A link with less time than this left is not given out any more.
    private static final Duration ENOUGH = Duration.ofMinutes(5);

    private static final int RANDOM_BYTES = 32;

    /// The authorization that a link completes.
    interface Target {
        Authorized redirected(Link link, Redirect redirect);
    }

    /// @param verifier the secret that is shown with the code, which is of no use without it
    record Link(Target target, AuthorizationRequest request, String state, String verifier, Instant end) {
        String url() {
            return request.url(state, hash(verifier));
        }

        @Override
        public String toString() {
            return "Link[%s]".formatted(request.server().issuer());
        }
    }

    private final InstantSource clock;
    private final SecureRandom random = new SecureRandom();
    private final Map<String, Link> links = new HashMap<>();

    Links(InstantSource clock) {
        this.clock = clock;
    }

    /// A link with enough time left.
    synchronized Link open(Target target, AuthorizationRequest request) {
        var now = clock.instant();
        links.values().removeIf(link -> !link.end.isAfter(now));
        return links.values().stream()
                .filter(link -> link.target.equals(target) && link.request.equals(request))
                .filter(link -> link.end.isAfter(now.plus(ENOUGH)))
                .findFirst()
                .orElseGet(() -> {
                    var link = new Link(target, request, word(), word(), now.plus(GOOD));
                    links.put(link.state, link);
                    return link;
                });
    }

    private String word() {
        byte[] bytes = new byte[RANDOM_BYTES];
        random.nextBytes(bytes);
        return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
    }

    /// The link that a browser came back by, which is used up by that; empty if there is none that is still good.
    synchronized Optional<Link> take(@Nullable String state) {
        return Optional.ofNullable(state == null ? null : links.remove(state))
                .filter(link -> link.end.isAfter(clock.instant()));
    }

    /// Invalidates all links of a target.
    synchronized void drop(Target target) {
        links.values().removeIf(link -> link.target.equals(target));
    }

    private static String hash(String verifier) {
        try {
            byte[] hash = MessageDigest.getInstance("SHA-256").digest(verifier.getBytes(StandardCharsets.US_ASCII));
            return Base64.getUrlEncoder().withoutPadding().encodeToString(hash);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }
}
