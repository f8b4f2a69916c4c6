package dev.cay.cli;

import dev.cay.cli.local.ConfigOptions;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/// The default egress of a team's sandboxes.
@Command(
        name = "network",
        mixinStandardHelpOptions = true,
        description = {
            "Show or set the egress rules of a team's sandboxes that are created without rules of their own.",
            "New rules replace the earlier ones, and apply to sandboxes that are created afterwards. The settings",
            "network.egress.* say what no sandbox may reach."
        })
final class TeamNetworkCommand implements Callable<Integer> {
    @Mixin
    private ConfigOptions options = new ConfigOptions();

    @Parameters(index = "0", paramLabel = "TEAM", description = "Slug, name or id of the team.")
    private String team = "";

    @Mixin
    private NetworkDefault rules = new NetworkDefault();

    @Override
    public Integer call() {
        var operator = Api.ofOperator(options);
        rules.apply(
                operator,
                "/admin/teams/%s/network".formatted(TeamIds.require(operator, team)),
                "no default; sandboxes reach all that network.egress of the settings lets them reach");
        return 0;
    }
}
