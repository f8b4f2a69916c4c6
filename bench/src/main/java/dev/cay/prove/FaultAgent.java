package dev.cay.prove;

import dev.cay.life.Steps;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Makes faults happen in a daemon of the proofs, as a Java agent that only they start their daemons with: a script
/// that lies beside the daemon's configuration, in `faults` under the name of a step, is run once when the daemon
/// reaches that step.
public final class FaultAgent {
    private static final int LIMIT_SECONDS = 60;

    private FaultAgent() {}

    /// Called by the JVM before the daemon's own `main`.
    public static void premain(String arguments) {
        var faults = Path.of(System.getenv("CAY_CONFIG")).resolveSibling("faults");
        Steps.listen(step -> play(faults.resolve(step)));
    }

    /// What a JVM is to be started with for that. The classes at hand must come from a jar, as they do where `cay`
    /// starts the proofs.
    static String option() {
        try {
            return "-javaagent:"
                    + Path.of(FaultAgent.class
                            .getProtectionDomain()
                            .getCodeSource()
                            .getLocation()
                            .toURI());
        } catch (URISyntaxException e) {
            throw new IllegalStateException("the proofs lie at a strange place", e);
        }
    }

    private static void play(Path script) {
        if (!Files.exists(script)) {
            return;
        }
        Logger log = LoggerFactory.getLogger(FaultAgent.class);
        try {
            Path taken = script.resolveSibling(script.getFileName() + ".taken");
            Files.move(script, taken, StandardCopyOption.REPLACE_EXISTING);
            log.atWarn().addKeyValue("step", script.getFileName()).log("a fault was ordered for this step");
            var process = new ProcessBuilder("sh", taken.toString()).inheritIO().start();
            if (!process.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS)) {
                process.destroyForcibly();
            }
        } catch (IOException e) {
            log.atWarn().setCause(e).addKeyValue("step", script.getFileName()).log("no fault at this step");
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
