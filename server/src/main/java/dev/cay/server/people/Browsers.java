package dev.cay.server.people;

import dev.cay.http.Exchange;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Stream;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;

/// Which browser sends a request: its cookies, and whether a page of this server sent its form.
///
/// Sandboxes are served below the same domain, so browsers count their pages as the same site and send cookies with
/// what these pages ask for. So the attribute `SameSite` alone protects nothing here: forms carry a token that only
/// pages of this server know, and the origin of each is compared. By TLS the names of cookies begin with `__Host-`,
/// which a page of a sandbox cannot set.
public final class Browsers {
    private static final String SECURE = "__Host-";
    private static final String SESSION = "cay_session";
    private static final String BINDING = "cay_browser";
    private static final String KEY = "cay_key";
    private static final String ALGORITHM = "HmacSHA256";

    private final SignIns signIns;
    private final URI base;
    private final SecretKeySpec key;
    private final SecureRandom random;

    /// @param base where browsers reach this server
    /// @param key  of tokens in forms
    Browsers(SignIns signIns, URI base, byte[] key, SecureRandom random) {
        this.signIns = signIns;
        this.base = base;
        this.key = new SecretKeySpec(key, ALGORITHM);
        this.random = random;
    }

    /// Whether the request carries a cookie of ours, which nobody else may see.
    public static boolean hasCookie(Exchange exchange) {
        return Stream.of(SESSION, BINDING, KEY)
                .flatMap(name -> Stream.of(name, SECURE + name))
                .anyMatch(name -> exchange.cookie(name) != null);
    }

    Optional<SignIn> signIn(Exchange exchange) {
        String cookie = exchange.cookie(name(exchange, SESSION));
        return cookie == null ? Optional.empty() : signIns.findBrowser(new Secret(cookie));
    }

    /// Has the browser show this from now on.
    void remember(Exchange exchange, SignIns.Proved proved) {
        set(
                exchange,
                SESSION,
                proved.secret().text(),
                SignIn.Kind.BROWSER.life().toSeconds());
    }

    void forget(Exchange exchange) {
        set(exchange, SESSION, "", 0);
    }

    /// A secret that identifies the browser before a person signs in. Created if the browser has none.
    Secret binding(Exchange exchange) {
        return knownBinding(exchange).orElseGet(() -> {
            var fresh = Secret.random("", random);
            set(exchange, BINDING, fresh.text(), 3600);
            return fresh;
        });
    }

    Optional<Secret> knownBinding(Exchange exchange) {
        return Optional.ofNullable(exchange.cookie(name(exchange, BINDING))).map(Secret::new);
    }

    /// The sealed API key that the browser is signed in with, as {@link #rememberKey} gave it.
    public Optional<String> key(Exchange exchange) {
        return Optional.ofNullable(exchange.cookie(name(exchange, KEY)));
    }

    /// Has the browser show a sealed API key from now on.
    public void rememberKey(Exchange exchange, String sealed, long seconds) {
        set(exchange, KEY, sealed, seconds);
    }

    /// `Lax`, as browsers come back here from an issuer of another site.
    private void set(Exchange exchange, String name, String value, long seconds) {
        exchange.with(
                "Set-Cookie",
                "%s=%s; Path=/; Max-Age=%d; HttpOnly; SameSite=Lax%s"
                        .formatted(name(exchange, name), value, seconds, isSecure(exchange) ? "; Secure" : ""));
    }

    private String name(Exchange exchange, String plain) {
        return isSecure(exchange) ? SECURE + plain : plain;
    }

    private boolean isSecure(Exchange exchange) {
        return exchange.secure() || (isBase(exchange.authority()) && "https".equals(base.getScheme()));
    }

    /// What a form of this browser's carries.
    ///
    /// @param purpose of the form; a token for one is not good for another
    String formToken(SignIn signIn, String purpose) {
        try {
            var mac = Mac.getInstance(ALGORITHM);
            mac.init(key);
            byte[] sum = mac.doFinal((signIn.id() + ":" + purpose).getBytes(StandardCharsets.UTF_8));
            return HexFormat.of().formatHex(sum);
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    boolean fits(@Nullable String token, SignIn signIn, String purpose) {
        return token != null && Secret.same(token, formToken(signIn, purpose));
    }

    /// Whether a page of this server sent the form. Browsers say where each form comes from.
    public boolean isOwnForm(Exchange exchange) {
        return exchange.header("Origin") != null && !isForeign(exchange);
    }

    /// Whether the browser says that a page of another origin sent the request. Those of sandboxes are such pages.
    public boolean isForeign(Exchange exchange) {
        String origin = exchange.header("Origin");
        String site = exchange.header("Sec-Fetch-Site");
        return (site != null && !site.equals("same-origin")) || (origin != null && !isOwnOrigin(exchange, origin));
    }

    private boolean isOwnOrigin(Exchange exchange, String origin) {
        int at = origin.indexOf("://");
        String authority = at < 0 ? "" : origin.substring(at + 3);
        return !authority.isEmpty() && (authority.equalsIgnoreCase(exchange.authority()) || isBase(authority));
    }

    private boolean isBase(String authority) {
        return authority.toLowerCase(Locale.ROOT).equals(base.getRawAuthority());
    }
}
