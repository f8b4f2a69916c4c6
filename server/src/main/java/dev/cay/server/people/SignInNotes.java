package dev.cay.server.people;

import dev.cay.http.Exchange;
import dev.cay.server.access.Audit;
import org.jspecify.annotations.Nullable;

/// Reports sign-ins, sign-outs and refusals to the audit log.
final class SignInNotes {
    /// The way in which a person signs in.
    enum Way {
        BROWSER("browser"),
        LINK("link"),
        OPENID("openid"),
        PROGRAM("program");

        private final String word;

        Way(String word) {
            this.word = word;
        }
    }

    private final Audit audit;

    SignInNotes(Audit audit) {
        this.audit = audit;
    }

    void signedIn(Exchange exchange, Way way, Person person) {
        note(exchange, "person.sign-in", way, person, true);
    }

    /// @param person null when it is not known
    void refused(Exchange exchange, Way way, @Nullable Person person) {
        note(exchange, "person.sign-in", way, person, false);
    }

    void signedOut(Exchange exchange, Way way, Person person) {
        note(exchange, "person.sign-out", way, person, true);
    }

    /// A refresh token is not good any more, or was used a second time.
    void notRenewed(Exchange exchange, @Nullable Person person) {
        note(exchange, "person.renew", Way.PROGRAM, person, false);
    }

    private void note(Exchange exchange, String action, Way way, @Nullable Person person, boolean ok) {
        audit.signIn(exchange, new Audit.SignInAct(action, way.word, person == null ? null : person.id(), ok));
    }
}
