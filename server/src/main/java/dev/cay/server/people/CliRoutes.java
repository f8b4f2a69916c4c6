package dev.cay.server.people;

import dev.cay.http.Exchange;
import dev.cay.http.Routes;
import dev.cay.wire.CayException;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The page that `e2b auth login` opens. It asks the person whether the program may act for them, and sends the
/// browser back to the program, with tokens or with an error: the program waits for that without a limit.
final class CliRoutes {
    static final String PATH = "/docs/api/cli";

    /// How the program names itself to the token endpoint.
    static final String CLIENT = "e2b-cli";

    private static final Logger log = LoggerFactory.getLogger(CliRoutes.class);

    private final Browsers browsers;
    private final SignIns signIns;
    private final People people;
    private final AccessTokens tokens;
    private final SignInOptions ways;
    private final SignInNotes notes;

    CliRoutes(
            Browsers browsers,
            SignIns signIns,
            People people,
            AccessTokens tokens,
            SignInOptions ways,
            SignInNotes notes) {
        this.browsers = browsers;
        this.signIns = signIns;
        this.people = people;
        this.tokens = tokens;
        this.ways = ways;
        this.notes = notes;
    }

    void addTo(Routes routes) {
        routes.on("GET", PATH, this::show);
        routes.on("POST", PATH, this::decide);
    }

    private void show(Exchange exchange) {
        String state = exchange.query("state");
        if (state != null) {
            showEnd(exchange, state);
            return;
        }
        var next = CliReturn.parse(exchange.query("next"));
        if (next.isEmpty()) {
            refuse(exchange);
            return;
        }
        try {
            var signIn = browsers.signIn(exchange);
            if (signIn.isEmpty()) {
                ways.show(exchange, next.get());
                return;
            }
            ask(exchange, signIn.get(), next.get());
        } catch (RuntimeException e) {
            SignInPage.redirect(exchange, failed(next.get(), e));
        }
    }

    /// Where the program hears of it.
    private static String failed(CliReturn next, RuntimeException e) {
        if (e instanceof CayException known) {
            return next.failed(known.userMessage());
        }
        log.atError().setCause(e).log("could not sign in a program");
        return next.failed("the server failed; its log says why");
    }

    /// The program sends the browser here when it has what it wanted, or has not.
    private static void showEnd(Exchange exchange, String state) {
        if (state.equals("success")) {
            String email = exchange.query("email");
            SignInPage.say(
                    exchange,
                    200,
                    "Signed in",
                    "The command line is signed in%s. You can close this page."
                            .formatted(email == null ? "" : " as " + email));
            return;
        }
        String error = exchange.query("error");
        SignInPage.say(
                exchange,
                200,
                "Not signed in",
                "The command line is not signed in: %s. Run `e2b auth login` again."
                        .formatted(error == null ? "it gave no reason" : error));
    }

    private static void refuse(Exchange exchange) {
        SignInPage.say(
                exchange,
                400,
                "This link is not right",
                "'next' must be http://localhost:PORT or http://127.0.0.1:PORT, where a program on your machine waits. "
                        + "Run `e2b auth login` and use the address that it prints.");
    }

    private void ask(Exchange exchange, SignIn signIn, CliReturn next) {
        String form = """
                <p>A program on this computer, at <b>%s</b>, wants to use Cay as <b>%s</b>.
                Allow this only if you have just run <code>e2b auth login</code>.</p>
                <form method="post" action="%s">
                <input type="hidden" name="next" value="%s"><input type="hidden" name="token" value="%s">
                <button name="decision" value="allow" id="allow">Allow</button>
                <button name="decision" value="deny" id="deny">Deny</button>
                </form>
                """.formatted(
                        SignInPage.escaped(next.origin()),
                        SignInPage.escaped(signIn.person().email()),
                        PATH,
                        SignInPage.escaped(next.origin()),
                        browsers.formToken(signIn, next.origin()));
        SignInPage.send(exchange, 200, "Sign in the command line", form, next.origin());
    }

    private void decide(Exchange exchange) {
        var form = exchange.form();
        var next = CliReturn.parse(form.get("next"));
        if (next.isEmpty()) {
            refuse(exchange);
            return;
        }
        String address;
        try {
            var signIn = browsers.signIn(exchange);
            if (signIn.isEmpty()) {
                SignInPage.redirect(
                        exchange, PATH + "?next=" + CliReturn.encoded(next.get().origin()));
                return;
            }
            address = decided(exchange, form, signIn.get(), next.get());
        } catch (RuntimeException e) {
            address = failed(next.get(), e);
        }
        SignInPage.redirect(exchange, address);
    }

    private String decided(Exchange exchange, Map<String, String> form, SignIn signIn, CliReturn next) {
        if (!browsers.isOwnForm(exchange) || !browsers.fits(form.get("token"), signIn, next.origin())) {
            notes.refused(exchange, SignInNotes.Way.PROGRAM, signIn.person());
            return next.failed("the answer did not come from the page of this server; try again");
        }
        if (!isAllowed(form.get("decision"))) {
            return next.failed("you did not allow it");
        }
        if (people.memberships(signIn.person()).isEmpty()) {
            notes.refused(exchange, SignInNotes.Way.PROGRAM, signIn.person());
            throw PersonTokens.memberOfNone(signIn.person());
        }
        var proved = signIns.begin(signIn.person(), SignIn.Kind.PROGRAM);
        notes.signedIn(exchange, SignInNotes.Way.PROGRAM, signIn.person());
        var values = new LinkedHashMap<String, String>();
        values.put("email", signIn.person().email());
        values.put("accessToken", tokens.make(proved.signIn()));
        values.put("refreshToken", proved.secret().text());
        values.put("tokenEndpoint", ways.address(OAuthRoutes.TOKEN));
        values.put("revokeEndpoint", ways.address(OAuthRoutes.REVOKE));
        values.put("clientId", CLIENT);
        return next.with(values);
    }

    private static boolean isAllowed(@Nullable String decision) {
        return "allow".equals(decision);
    }
}
