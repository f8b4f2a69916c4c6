package dev.cay.server.people;

import dev.cay.http.Exchange;
import java.net.URI;
import org.jspecify.annotations.Nullable;

/// The page for a browser in which nobody is signed in: it offers the ways to sign in here.
///
/// @param base   where browsers reach this server, without a slash at its end
/// @param issuer the host of the OpenID Connect issuer; null if there is none
record SignInOptions(URI base, @Nullable String issuer) {
    static final String START = "/sign-in/start";

    /// A path of this server as an address.
    String address(String path) {
        return base + path;
    }

    /// @param next the program that waits; null if none does
    void show(Exchange exchange, @Nullable CliReturn next) {
        String offered = issuer == null
                ? ""
                : """
                <p><a class="button" id="issuer" href="%s">Sign in with %s</a></p>
                """.formatted(
                                SignInPage.escaped(address(START)
                                        + (next == null ? "" : "?next=" + CliReturn.encoded(next.origin()))),
                                SignInPage.escaped(issuer));
        SignInPage.sendWaiting(
                exchange, "Sign in to Cay", offered + """
                        <p>%s, whoever runs this Cay makes a link for you with</p>
                        <pre>sudo ./cay login</pre>
                        <p>or, for one of several people, <code>sudo ./cay login you@example.org</code>.
                        Open the link in this browser. This page then goes on by itself.</p>
                        """.formatted(issuer == null ? "To sign in" : "Or"));
    }
}
