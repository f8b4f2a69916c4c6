package dev.cay.cli;

import dev.cay.cli.local.ConfigOptions;
import dev.cay.cli.local.RunFile;
import dev.cay.server.access.AdminToken;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.nio.file.Files;
import java.security.SecureRandom;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

@Command(
        name = "admin-token",
        mixinStandardHelpOptions = true,
        description = "Print the operator's token, with which teams and all keys are administered.",
        footer = {
            "",
            "Requests send it in the header X-Admin-Token. It permits everything.",
            "",
            "Examples:",
            "  sudo ./cay admin-token",
            "  sudo ./cay admin-token --renew"
        })
final class AdminTokenCommand implements Callable<Integer> {
    @Mixin
    private ConfigOptions options = new ConfigOptions();

    @Option(names = "--renew", description = "Make another one; the old one is refused from then on.")
    private boolean renew;

    @Override
    public Integer call() {
        var token = AdminToken.in(options.config().stateDir());
        if (!Files.isReadable(token.file())) {
            throw new CayException(
                    ErrorKind.NOT_FOUND,
                    "%s does not exist or cannot be read; run `cay up` once, and this command as root"
                            .formatted(token.file()));
        }
        System.out.println(renew ? token.renew(new SecureRandom()) : token.read());
        if (renew && RunFile.find(options.config().runDir()).isPresent()) {
            note();
        }
        return 0;
    }

    /// Reports the renewal to the audit log. A failure of the report does not undo the renewal.
    private void note() {
        try {
            Api.ofOperator(options).call("POST", "/admin/audit", Map.of("action", "admin-token.renew"));
        } catch (CayException e) {
            System.err.println("cay: the audit log does not tell of this: " + e.userMessage());
        }
    }
}
