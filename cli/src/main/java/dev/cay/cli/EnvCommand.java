package dev.cay.cli;

import dev.cay.cli.local.ConfigOptions;
import dev.cay.cli.local.RunFile;
import dev.cay.config.CayConfig;
import java.io.IOException;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

@Command(
        name = "env",
        mixinStandardHelpOptions = true,
        description = "Print what E2B's clients need to find this Cay. Needs no root.",
        footer = {
            "",
            "Examples:",
            "  eval \"$(./cay env)\"                 # bash, zsh",
            "  ./cay env --shell fish | source",
            "  ./cay env --mode url                # plain HTTP only, no certificates",
            "",
            "Clients need all of them: with E2B_API_KEY alone, for instance in a file .env,",
            "they look for E2B's cloud and say `fetch failed`. --mode url has what a .env",
            "needs besides: E2B_API_URL, E2B_SANDBOX_URL and E2B_VOLUME_API_URL.",
            "",
            "NODE_EXTRA_CA_CERTS that is set already is kept: its certificates and Cay's lie",
            "together in a file of yours then."
        })
final class EnvCommand implements Callable<Integer> {
    @Mixin
    private ConfigOptions options = new ConfigOptions();

    @Option(names = "--shell", paramLabel = "SHELL", description = "${COMPLETION-CANDIDATES} (default: bash).")
    private ClientEnvironment.Shell shell = ClientEnvironment.Shell.BASH;

    @Option(
            names = "--mode",
            paramLabel = "MODE",
            description = "${COMPLETION-CANDIDATES}: host names by TLS, plain URLs, or both (default: both).")
    private ClientEnvironment.Mode mode = ClientEnvironment.Mode.BOTH;

    @Override
    public Integer call() throws IOException {
        CayConfig config = options.config();
        RunFile daemon = RunFile.require(config.runDir(), options);
        String key = Api.ownKey(config.instance());
        var variables = ClientEnvironment.variables(daemon, key, mode);
        // Without these, `e2b auth login` and printed links lead to E2B's cloud.
        variables.putAll(new TreeMap<>(ClientEnvironment.pages(config.signInUrl())));
        NodeCertificates.keep(variables, System.getenv(), config.instance());
        System.out.println(ClientEnvironment.write(variables, shell));
        return 0;
    }
}
