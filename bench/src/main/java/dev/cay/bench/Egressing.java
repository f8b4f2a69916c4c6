package dev.cay.bench;

import dev.cay.life.Progress;
import dev.cay.platform.OwnInternet;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import tools.jackson.databind.json.JsonMapper;

/// What network rules cost: TLS from sandboxes with rules, beside the same from a sandbox without. Servers
/// are in a network namespace, and so is the daemon, so that {@link EgressTrial} measures in a process of
/// its own.
final class Egressing implements Measurement {
    private static final Duration LIMIT = Duration.ofMinutes(20);

    @Override
    public String name() {
        return "egress";
    }

    @Override
    public List<Figure> run(Progress progress) throws Exception {
        var servers = Objects.requireNonNull(Egressing.class.getResourceAsStream("egress_internet.py"));
        try (var internet = new OwnInternet(servers)) {
            Path said = internet.directory().resolve("trial.log");
            var process = internet.java(EgressTrial.class, said, List.of(internet.outside()));
            if (!process.waitFor(LIMIT.toSeconds(), TimeUnit.SECONDS) || process.exitValue() != 0) {
                throw new IOException("the measurement broke off:\n" + tail(said));
            }
            return Files.readAllLines(said).stream()
                    .filter(line -> line.startsWith(EgressTrial.FIGURE))
                    .map(line ->
                            JsonMapper.shared().readValue(line.substring(EgressTrial.FIGURE.length()), Figure.class))
                    .toList();
        }
    }

    private static String tail(Path file) throws IOException {
        String all = Files.readString(file);
        return all.substring(Math.max(0, all.length() - 3000));
    }
}
