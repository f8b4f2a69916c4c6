package dev.cay.cli;

import dev.cay.cli.local.ConfigOptions;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/// The default egress of a template's sandboxes.
@Command(
        name = "network",
        mixinStandardHelpOptions = true,
        description = {
            "Show or set what sandboxes of a template may reach whose creator says nothing about it.",
            "It replaces what was set before, and holds for sandboxes of your team that are created afterwards. Without it,",
            "the default of the team holds."
        })
final class TemplateNetworkCommand implements Callable<Integer> {
    @Mixin
    private ConfigOptions options = new ConfigOptions();

    @Parameters(index = "0", paramLabel = "TEMPLATE", description = "Name or id of the template.")
    private String template = "";

    @Mixin
    private NetworkDefault rules = new NetworkDefault();

    @Override
    public Integer call() {
        rules.apply(
                Api.of(options),
                "/templates/%s/network".formatted(UserTemplates.encoded(template)),
                "no default; what the team's sandboxes may reach holds");
        return 0;
    }
}
