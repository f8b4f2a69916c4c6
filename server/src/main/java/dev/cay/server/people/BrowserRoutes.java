package dev.cay.server.people;

import dev.cay.http.ErrorRenderer;
import dev.cay.http.Exchange;
import dev.cay.http.Routes;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.util.LinkedHashMap;
import org.jspecify.annotations.Nullable;

/// Signs browsers in with one-time links, and out.
final class BrowserRoutes {
    static final String HOME = "/sign-in";
    static final String LINK = "/sign-in/link";
    private static final String OUT = "/sign-in/out";

    private final Browsers browsers;
    private final SignIns signIns;
    private final AccessTokens tokens;
    private final Attempts attempts;
    private final SignInOptions ways;
    private final SignInNotes notes;

    BrowserRoutes(
            Browsers browsers,
            SignIns signIns,
            AccessTokens tokens,
            Attempts attempts,
            SignInOptions ways,
            SignInNotes notes) {
        this.browsers = browsers;
        this.signIns = signIns;
        this.tokens = tokens;
        this.attempts = attempts;
        this.ways = ways;
        this.notes = notes;
    }

    void addTo(Routes routes) {
        routes.on("GET", HOME, this::home);
        routes.on("GET", LINK, exchange -> page(exchange, this::show));
        routes.on("POST", LINK, exchange -> page(exchange, this::take));
        routes.on("POST", OUT, exchange -> page(exchange, this::out));
        routes.on("POST", "/sign-in/token", this::token);
    }

    private interface Action {
        void handle(Exchange exchange);
    }

    /// Errors are pages too.
    private static void page(Exchange exchange, Action action) {
        try {
            action.handle(exchange);
        } catch (CayException e) {
            e.retryAfter().ifPresent(exchange::retryAfter);
            SignInPage.say(exchange, ErrorRenderer.status(e.kind()), "Not signed in", e.userMessage());
        }
    }

    private void home(Exchange exchange) {
        var signIn = browsers.signIn(exchange);
        if (signIn.isEmpty()) {
            ways.show(exchange, null);
            return;
        }
        String content = """
            <p>You are signed in as <b>%s</b>. A page of <code>e2b auth login</code> that waits goes on by itself.</p>
            <p><a class="button" id="dashboard" href="/dashboard">Open the dashboard</a></p>
            <form method="post" action="%s"><input type="hidden" name="token" value="%s">
            <button id="out">Sign out</button></form>
            """.formatted(
                        SignInPage.escaped(signIn.get().person().email()), OUT, browsers.formToken(signIn.get(), OUT));
        SignInPage.send(exchange, 200, "Signed in", content, "");
    }

    /// A link is used up by the click: programs look at links before people do.
    private void show(Exchange exchange) {
        String token = exchange.query("token");
        var person = require(exchange, token);
        String content =
                """
                <form method="post" action="%s"><input type="hidden" name="token" value="%s">
                <button id="take">Sign in as %s</button></form>
                """.formatted(LINK, SignInPage.escaped(String.valueOf(token)), SignInPage.escaped(person.email()));
        SignInPage.send(exchange, 200, "Sign in to Cay", content, "");
    }

    private Person require(Exchange exchange, @Nullable String token) {
        return signIns.peek(new Secret(token == null ? "" : token)).orElseThrow(() -> unknownLink(exchange));
    }

    private CayException unknownLink(Exchange exchange) {
        notes.refused(exchange, SignInNotes.Way.LINK, null);
        attempts.wrong(exchange.peer());
        return new CayException(
                ErrorKind.NOT_FOUND,
                "this link was used, is older than %d minutes, or never was one; `sudo ./cay login` makes another"
                        .formatted(SignIns.LINK_LIFE.toMinutes()));
    }

    private void take(Exchange exchange) {
        requireOwnForm(exchange);
        String token = exchange.form().get("token");
        require(exchange, token);
        var proved = signIns.take(new Secret(token == null ? "" : token)).orElseThrow(() -> unknownLink(exchange));
        browsers.remember(exchange, proved);
        notes.signedIn(exchange, SignInNotes.Way.LINK, proved.signIn().person());
        SignInPage.redirect(exchange, HOME);
    }

    private void out(Exchange exchange) {
        requireOwnForm(exchange);
        String token = exchange.form().get("token");
        if (browsers.signIn(exchange)
                .filter(signIn -> browsers.fits(token, signIn, OUT))
                .isPresent()) {
            end(exchange);
        }
        browsers.forget(exchange);
        SignInPage.redirect(exchange, HOME);
    }

    /// Ends the sign-in of the browser.
    void end(Exchange exchange) {
        browsers.signIn(exchange).ifPresent(signIn -> {
            signIns.end(signIn);
            notes.signedOut(exchange, SignInNotes.Way.BROWSER, signIn.person());
        });
        browsers.forget(exchange);
    }

    /// An access token for scripts of this server's own pages, which cannot read the cookie.
    private void token(Exchange exchange) {
        requireOwnForm(exchange);
        var signIn = browsers.signIn(exchange)
                .orElseThrow(() -> new CayException(ErrorKind.UNAUTHENTICATED, "this browser is not signed in"));
        var answer = new LinkedHashMap<String, Object>();
        answer.put("email", signIn.person().email());
        answer.put("accessToken", tokens.make(signIn));
        answer.put("expiresIn", AccessTokens.LIFE.toSeconds());
        exchange.with("Cache-Control", "no-store").sendJson(200, answer);
    }

    private void requireOwnForm(Exchange exchange) {
        if (!browsers.isOwnForm(exchange)) {
            throw new CayException(ErrorKind.PERMISSION_DENIED, "this did not come from a page of this server");
        }
    }
}
