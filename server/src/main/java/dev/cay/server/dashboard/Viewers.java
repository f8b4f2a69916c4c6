package dev.cay.server.dashboard;

import dev.cay.http.Exchange;
import dev.cay.server.access.Access;
import dev.cay.server.access.Caller;
import dev.cay.server.access.SandboxTokens;
import dev.cay.server.access.TeamKey;
import dev.cay.server.people.PersonAccess;
import dev.cay.server.store.SealedColumn;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.InstantSource;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/// Finds out who sends a request, by the browser's cookies: a person's sign-in, or an API key.
///
/// The cookie of an API key holds the key itself, sealed, and the time at which it ends. So nothing is stored, and
/// a key that is revoked ends what browsers do with it.
final class Viewers {
    private static final Duration LIFE = Duration.ofHours(12);
    private static final String ROW = "dashboard";
    private static final String ALGORITHM = "HmacSHA256";

    private final PersonAccess people;
    private final Access access;
    private final SealedColumn seal;
    private final SecretKeySpec tokens;
    private final InstantSource clock;

    Viewers(PersonAccess people, Access access, SandboxTokens secrets, InstantSource clock, SecureRandom random) {
        this.people = people;
        this.access = access;
        this.seal = new SealedColumn(secrets.sealingKey("API keys in cookies of the dashboard"), random);
        this.tokens = new SecretKeySpec(secrets.sealingKey("calls of the dashboard"), ALGORITHM);
        this.clock = clock;
    }

    /// @throws CayException if the person is a member of no team any more
    Optional<Viewer> find(Exchange exchange) {
        return people.browsers()
                .key(exchange)
                .flatMap(this::ofKey)
                .or(() -> people.visitor(exchange).map(this::ofPerson));
    }

    Viewer require(Exchange exchange) {
        return find(exchange)
                .orElseThrow(() -> new CayException(
                        ErrorKind.UNAUTHENTICATED, "nobody is signed in with this browser any more; sign in again"));
    }

    /// Signs the browser in with an API key.
    void signIn(Exchange exchange, String key) {
        if (access.rightsOfKey(key).isEmpty()) {
            people.wrongAttempt(exchange.peer());
            throw new CayException(
                    ErrorKind.UNAUTHENTICATED,
                    "this is no API key of this server, or it was revoked or has expired; `cay env` prints one");
        }
        long end = clock.instant().plus(LIFE).getEpochSecond();
        people.browsers().rememberKey(exchange, seal.seal(ROW, end + " " + key.strip()), LIFE.toSeconds());
    }

    void signOut(Exchange exchange) {
        if (people.browsers().key(exchange).isPresent()) {
            people.browsers().rememberKey(exchange, "", 0);
        } else {
            people.signOut(exchange);
        }
    }

    private Optional<Viewer> ofKey(String sealed) {
        String[] parts;
        try {
            parts = seal.open(ROW, sealed).split(" ", 2);
        } catch (GeneralSecurityException _) {
            return Optional.empty();
        }
        if (clock.instant().getEpochSecond() >= Long.parseLong(parts[0])) {
            return Optional.empty();
        }
        return access.rightsOfKey(parts[1])
                .map(rights -> new Viewer(
                        rights.name(),
                        false,
                        access.holders().name(new Caller(rights.team(), rights)),
                        Map.of("X-API-Key", parts[1]),
                        token("key " + sealed),
                        List.of(rights)));
    }

    private Viewer ofPerson(PersonAccess.Visitor visitor) {
        List<TeamKey> rights = access.rightsOfPerson(visitor.accessToken());
        return new Viewer(
                visitor.email(),
                true,
                access.holders().name(new Caller(rights.getFirst().team(), rights.getFirst())),
                Map.of("Authorization", "Bearer " + visitor.accessToken()),
                token("person " + visitor.signIn()),
                rights);
    }

    private String token(String of) {
        try {
            var mac = Mac.getInstance(ALGORITHM);
            mac.init(tokens);
            return HexFormat.of().formatHex(mac.doFinal(of.getBytes(StandardCharsets.UTF_8)));
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }
}
