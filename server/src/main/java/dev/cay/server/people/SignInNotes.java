package dev.cay.server.people;

import dev.cay.http.Exchange;
import dev.cay.server.access.Audit;
import org.jspecify.annotations.Nullable;

/// Tells the audit log who signed in and out, and who was refused.
final class SignInNotes {
    /// How a person proves their identity.
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

    /// @param person null if the person is not known
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
