package dev.cay.server.people;

import dev.cay.http.ErrorRenderer;
import dev.cay.http.Exchange;
import dev.cay.http.Routes;
import dev.cay.server.people.openid.OpenId;
import dev.cay.wire.CayException;
import java.util.HashMap;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Sends browsers to the issuer, and signs them in when they come back. A program that waits hears of every failure.
final class OpenIdRoutes implements AutoCloseable {
    static final String CALLBACK = "/sign-in/callback";

    private static final Logger log = LoggerFactory.getLogger(OpenIdRoutes.class);

    private static final String SERVER_FAILED = "the server failed; its log says why";

    private final OpenId issuer;
    private final Browsers browsers;
    private final SignIns signIns;
    private final PersonAdmission admission;
    private final SignInNotes notes;

    OpenIdRoutes(OpenId issuer, Browsers browsers, SignIns signIns, PersonAdmission admission, SignInNotes notes) {
        this.issuer = issuer;
        this.browsers = browsers;
        this.signIns = signIns;
        this.admission = admission;
        this.notes = notes;
    }

    void addTo(Routes routes) {
        routes.on("GET", SignInOptions.START, this::start);
        routes.on("GET", CALLBACK, this::callback);
        // Programs that look at links for their users must not use them up.
        routes.on("HEAD", CALLBACK, exchange -> exchange.send(405));
    }

    /// The host of the issuer.
    String host() {
        return issuer.host();
    }

    private void start(Exchange exchange) {
        var next = CliReturn.parse(exchange.query("next")).orElse(null);
        try {
            var binding = browsers.binding(exchange);
            SignInPage.redirect(
                    exchange,
                    issuer.begin(binding.hash(), next == null ? null : next.origin())
                            .toString());
        } catch (CayException e) {
            fail(exchange, next, ErrorRenderer.status(e.kind()), e.userMessage());
        } catch (RuntimeException e) {
            log.atError().setCause(e).log("could not send a browser to the issuer");
            fail(exchange, next, 500, SERVER_FAILED);
        }
    }

    private void callback(Exchange exchange) {
        var returned = new HashMap<String, String>();
        for (String name : List.of("state", "code", "iss", "error")) {
            String value = exchange.query(name);
            if (value != null) {
                returned.put(name, value);
            }
        }
        var outcome = issuer.complete(
                returned, browsers.knownBinding(exchange).map(Secret::hash).orElse(null));
        if (outcome.isEmpty()) {
            notes.refused(exchange, SignInNotes.Way.OPENID, null);
            SignInPage.say(exchange, 400, "Not signed in", "This sign-in was not begun here. Begin again.");
            return;
        }
        // Checked again: it decides where tokens go.
        var next = CliReturn.parse(outcome.get().next()).orElse(null);
        try {
            finish(exchange, outcome.get(), next);
        } catch (CayException e) {
            notes.refused(exchange, SignInNotes.Way.OPENID, null);
            fail(exchange, next, ErrorRenderer.status(e.kind()), e.userMessage());
        } catch (RuntimeException e) {
            log.atError().setCause(e).log("could not sign in a browser");
            fail(exchange, next, 500, SERVER_FAILED);
        }
    }

    private void finish(Exchange exchange, OpenId.Outcome outcome, @Nullable CliReturn next) {
        var account = outcome.account();
        if (account == null) {
            notes.refused(exchange, SignInNotes.Way.OPENID, null);
            fail(exchange, next, 403, outcome.failure() == null ? "it failed" : outcome.failure());
            return;
        }
        var person = admission.admit(account.id(), account.email());
        browsers.remember(exchange, signIns.begin(person, SignIn.Kind.BROWSER));
        notes.signedIn(exchange, SignInNotes.Way.OPENID, person);
        SignInPage.redirect(
                exchange,
                next == null ? BrowserRoutes.HOME : CliRoutes.PATH + "?next=" + CliReturn.encoded(next.origin()));
    }

    private static void fail(Exchange exchange, @Nullable CliReturn next, int status, String why) {
        if (next == null) {
            SignInPage.say(exchange, status, "Not signed in", why);
        } else {
            SignInPage.redirect(exchange, next.failed(why));
        }
    }

    @Override
    public void close() {
        issuer.close();
    }
}
