package dev.cay.server;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;

/// What is promised of network rules, whatever engine the store has.
@Timeout(120)
abstract class NetworkContract extends ServerTest
        implements EgressRuleContract,
                EgressFillContract,
                EgressChangeContract,
                EgressDefaultContract,
                EgressLogContract {
    private String team = "";

    @BeforeEach
    final void findTeam() {
        team = cay.admin("GET", "/admin/teams", "").json().get(0).get("teamID").stringValue();
    }

    @Override
    public final String team() {
        return team;
    }
}
