package dev.cay.server;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;

/// What is promised of limits, whatever engine the store has.
@Timeout(120)
abstract class LimitsContract extends ServerTest
        implements SandboxLimitContract,
                RequestLimitContract,
                KeyLimitContract,
                DiskShareContract,
                LimitSettingContract {
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
