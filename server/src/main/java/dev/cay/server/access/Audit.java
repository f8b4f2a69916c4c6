package dev.cay.server.access;

import dev.cay.http.Exchange;
import dev.cay.wire.TeamId;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// Receives a report of every request that {@link Access} guards: its route, its sender and its result; and of
/// sign-ins, which no key guards.
public interface Audit {
    /// Begins the report of a request whose sender is not known yet.
    Act begin(Exchange exchange);

    /// The daemon did something without a request.
    ///
    /// @param facts ids and numbers, never a secret or a text of users
    void byItself(String action, TeamId team, Map<String, String> facts);

    /// A person signed in or out, or was refused.
    void signIn(Exchange exchange, SignInAct act);

    /// @param action `person.sign-in`, `person.sign-out` or `person.renew`
    /// @param way    `link`, `openid`, `browser` (signed in before) or `program`
    /// @param person the id; null when it is not known
    record SignInAct(String action, String way, @Nullable String person, boolean ok) {}

    /// The report of one request. Used by the request's thread.
    interface Act {
        /// The request carries the operator's token.
        void byOperator();

        /// The request carries a known key, or the operator's token for a team. The key may still be refused.
        void by(Caller caller);

        /// The request carries a token for one thing of a team.
        ///
        /// @param what       kind and id of the thing, like `volume:ID`
        /// @param credential what the token is, like `volume token`
        void byToken(TeamId team, String what, String credential);

        /// The request made an API key for a program of a person, which is an entry of its own.
        ///
        /// @param rights whose key it is, and in which team
        void minted(TeamKey rights, TeamKey key);

        /// The handler has ended. From here on its change must not get lost.
        ///
        /// @param failure null if it answered
        void end(@Nullable Exception failure);
    }
}
