package dev.cay.cli;

import dev.cay.cli.local.ConfigOptions;
import dev.cay.cli.local.Root;
import dev.cay.config.CayConfig;
import java.time.InstantSource;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

@Command(
        name = "up",
        mixinStandardHelpOptions = true,
        description = "Start Cay and serve until Ctrl-C or `cay down`. Sandboxes outlive it.",
        footer = {
            "",
            "Examples:",
            "  sudo ./cay up                          # in the foreground",
            "  sudo ./cay up --detach                 # in the background; returns when ready",
            "  sudo ./cay up --listen 0.0.0.0 --domain sandboxes.example.org"
        })
final class UpCommand implements Callable<Integer> {
    @Mixin
    private ConfigOptions options = new ConfigOptions();

    @Option(names = "--detach", description = "Run in the background; return when ready.")
    private boolean detach;

    @Option(names = "--listen", paramLabel = "ADDRESS", description = "Address to listen on; commas between several.")
    private @Nullable String listen;

    @Option(names = "--port", paramLabel = "PORT", description = "Port of plain HTTP.")
    private @Nullable String port;

    @Option(names = "--tls-port", paramLabel = "PORT", description = "Port of TLS.")
    private @Nullable String tlsPort;

    @Option(names = "--domain", paramLabel = "NAME", description = "What sandboxes' host names end in.")
    private @Nullable String domain;

    @Override
    public Integer call() throws Exception {
        CayConfig config = options.load(given()).config();
        Root.require("up", "to make sandboxes", options.command("up"));
        if (detach) {
            return new Background(config, options).start(System.out);
        }
        return new Foreground(config, options, System.out, InstantSource.system()).run();
    }

    private Map<String, String> given() {
        var given = new LinkedHashMap<String, @Nullable String>();
        given.put("http.listen", listen);
        given.put("http.port", port);
        given.put("http.tlsPort", tlsPort);
        given.put("http.domain", domain);
        var texts = new LinkedHashMap<String, String>();
        given.forEach((name, text) -> {
            if (text != null) {
                texts.put(name, text);
            }
        });
        return texts;
    }
}
