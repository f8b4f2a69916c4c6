package dev.cay.server.access;

import dev.cay.http.Exchange;
import dev.cay.wire.CayException;
import dev.cay.wire.TeamId;
import java.time.InstantSource;
import java.util.Optional;

/// The holders of tokens that callers are given in place of their own credential, like those of volumes: names a caller
/// in a token, and serves requests with it as long as the caller has the rights to get it. Thread-safe.
public final class Holders {
    private static final String KEY = "k-";
    private static final String SIGN_IN = "s-";
    private static final String OPERATOR = "o-";

    /// Answers a request on behalf of the holder of a token.
    public interface Work {
        void run() throws Exception;
    }

    /// Finds what the owner of a sign-in may do in a team.
    interface SignIns {
        /// Empty if the sign-in has ended, or its owner is no member.
        Optional<TeamKey> rightsNow(String signIn, TeamId team);
    }

    private final AdminToken admin;
    private final KnownTeams known;
    private final SignIns signIns;
    private final OpenRequests open;
    private final InstantSource clock;

    /// @param open gets the requests, so that they are cut when their holder loses the rights
    Holders(AdminToken admin, KnownTeams known, SignIns signIns, OpenRequests open, InstantSource clock) {
        this.admin = admin;
        this.known = known;
        this.signIns = signIns;
        this.open = open;
        this.clock = clock;
    }

    /// Names a caller in a token that they are given, for {@link #serve}.
    public String name(Caller caller) {
        var key = caller.key();
        if (key == null) {
            return OPERATOR + admin.fingerprint();
        }
        return key.isOfPerson() ? SIGN_IN + key.signIn() : KEY + key.id();
    }

    /// Serves a request with a token, as long as the token's holder has the rights to get it; cuts the request when
    /// they lose these rights.
    ///
    /// @param holder as {@link #name} has named them
    /// @param team   that the token is for
    /// @param needs  what the holder must be allowed to do
    public void serve(String holder, TeamId team, KeyScope needs, Exchange exchange, Work work) throws Exception {
        try {
            if (holder.startsWith(OPERATOR)) {
                requireOperator(holder);
                open.addOperator(holder.substring(OPERATOR.length()), exchange);
            } else {
                open.add(lender(holder, team, needs), exchange);
                // Again, for a key that was revoked meanwhile.
                lender(holder, team, needs);
            }
            work.run();
        } finally {
            open.remove(exchange);
        }
    }

    private void requireOperator(String holder) {
        if (!holder.equals(OPERATOR + admin.fingerprint())) {
            throw handedOut();
        }
    }

    private TeamKey lender(String holder, TeamId team, KeyScope needs) {
        var found = holder.startsWith(SIGN_IN)
                ? signIns.rightsNow(holder.substring(SIGN_IN.length()), team)
                : known.ofId(holder.substring(KEY.length()));
        return found.filter(key ->
                        key.team().id().equals(team) && key.scope().covers(needs) && !key.isOver(clock.instant()))
                .orElseThrow(Holders::handedOut);
    }

    private static CayException handedOut() {
        return Credential.unauthenticated(
                "the key or sign-in that this token was given to is not valid any more; ask for another token");
    }
}
