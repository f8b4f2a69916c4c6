package dev.cay.cli.doctor;

import dev.cay.cli.local.ConfigOptions;
import dev.cay.config.CayConfig;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import tools.jackson.databind.json.JsonMapper;

@Command(
        name = "doctor",
        mixinStandardHelpOptions = true,
        description = "Say what this machine lacks, and the command that fixes it. Changes nothing.",
        footer = {
            "",
            "Ends with 0 when Cay can work here, with 1 when something must be fixed first.",
            "With --security: with 1 when an attempt to get out of a sandbox was not refused.",
            "",
            "Examples:",
            "  sudo ./cay doctor",
            "  sudo ./cay doctor --security",
            "  sudo ./cay doctor --json | jq '.[] | select(.level != \"OK\")'"
        })
public final class DoctorCommand implements Callable<Integer> {
    private static final List<Check> CHECKS =
            List.of(new ProgramChecks(), new KernelChecks(), new NetworkChecks(), new StoreChecks());

    @Mixin
    private ConfigOptions options = new ConfigOptions();

    @Option(names = "--json", description = "For machines.")
    private boolean json;

    @Option(
            names = "--security",
            description = "Try every known way out of a sandbox on this host, and look for weak settings.")
    private boolean security;

    @Override
    public Integer call() {
        CayConfig config = options.config();
        if (security) {
            return new SecurityReport(config, options::command, System.err).print(System.out, json) ? 0 : 1;
        }
        var findings = look(config, options);
        if (json) {
            System.out.println(new JsonMapper().writerWithDefaultPrettyPrinter().writeValueAsString(findings));
        } else {
            findings.forEach(finding -> System.out.println(finding.line()));
            System.out.println();
            System.out.println(summary(findings));
        }
        return findings.stream().anyMatch(finding -> finding.level() == Finding.Level.FAIL) ? 1 : 0;
    }

    /// All findings as lines, for the support archive.
    public static List<String> report(CayConfig config, ConfigOptions options) {
        return look(config, options).stream().map(Finding::line).toList();
    }

    private static List<Finding> look(CayConfig config, ConfigOptions options) {
        return CHECKS.stream()
                .flatMap(check -> check.look(config, options::command).stream())
                .toList();
    }

    private static String summary(List<Finding> findings) {
        long failed = count(findings, Finding.Level.FAIL);
        long warned = count(findings, Finding.Level.WARN);
        if (failed > 0) {
            return "%d to fix before Cay can work, %d to look at".formatted(failed, warned);
        }
        return warned == 0 ? "Cay can work here." : "Cay can work here; %d to look at.".formatted(warned);
    }

    private static long count(List<Finding> findings, Finding.Level level) {
        return findings.stream().filter(finding -> finding.level() == level).count();
    }
}
