package dev.cay.cli;

import dev.cay.config.CayConfig;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
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
            "  ./cay env --mode url                # plain HTTP only, no certificates"
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
    public Integer call() {
        CayConfig config = options.config();
        RunFile daemon = RunFile.find(config.runDir())
                .orElseThrow(() -> new CayException(
                        ErrorKind.UNAVAILABLE, "Cay is not running; start it with: sudo ./cay up --detach"));
        String key = Api.ownKey(config.instance());
        System.out.println(ClientEnvironment.write(ClientEnvironment.variables(daemon, key, mode), shell));
        return 0;
    }
}
