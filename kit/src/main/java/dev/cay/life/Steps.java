package dev.cay.life;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Points with a name in work that must survive a crash at each of them.
///
/// Nothing happens there, unless the daemon was started with a directory for faults (`_CAY_FAULTS`): then a
/// script that lies in it under the name of a step is run once, when the step is reached. So `cay prove faults`
/// kills the daemon at every step, or fills the disk, and not at random.
public final class Steps {
    private static final Logger log = LoggerFactory.getLogger(Steps.class);
    private static final @Nullable String FAULTS = System.getenv("_CAY_FAULTS");
    private static final int LIMIT_SECONDS = 60;

    private Steps() {}

    /// Runs what lies in wait there.
    public static void reach(String step) {
        if (FAULTS != null) {
            play(Path.of(FAULTS, step));
        }
    }

    private static void play(Path script) {
        if (!Files.exists(script)) {
            return;
        }
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
