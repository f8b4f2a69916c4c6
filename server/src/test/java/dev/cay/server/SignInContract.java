package dev.cay.server;

import org.junit.jupiter.api.BeforeEach;

/// People sign in with one-time links, let the command line act for them, and leave again.
abstract class SignInContract extends ServerTest
        implements SignInBrowserContract,
                SignInProgramContract,
                SignInTokenContract,
                SignInKeyContract,
                SignInRemovalContract,
                SignInMemberContract,
                SignInAuditContract {
    private String team = "";

    @BeforeEach
    final void addAnn() {
        team = cay.admin("GET", "/admin/teams", "").json().get(0).get("teamID").stringValue();
        add("ann@example.org", "all");
    }

    @Override
    public final String team() {
        return team;
    }
}
