package dev.cay.node.build;

import dev.cay.wire.node.BuildLine;
import dev.cay.wire.node.LogLine.Level;
import dev.cay.wire.node.NodeBuilds;
import java.time.InstantSource;
import org.jspecify.annotations.Nullable;

/// Writes the log of a build, with the current step in each line.
final class BuildVoice implements BuildSandbox.OutputListener {
    private final NodeBuilds.Watcher watcher;
    private final InstantSource clock;
    private volatile @Nullable String step;
    private volatile String prefix = "";
    private volatile String lastError = "";

    BuildVoice(NodeBuilds.Watcher watcher, InstantSource clock) {
        this.watcher = watcher;
        this.clock = clock;
    }

    /// Sets the current step.
    ///
    /// @param name   the step's name for clients
    /// @param before prefix of each line
    void at(@Nullable String name, String before) {
        step = name;
        prefix = before.isEmpty() ? "" : before + " ";
        lastError = "";
    }

    @Nullable
    String step() {
        return step;
    }

    /// The last output of the step that looked like an error; empty without one.
    String lastError() {
        return lastError;
    }

    void say(String message) {
        say(Level.INFO, message);
    }

    void say(Level level, String message) {
        watcher.said(new BuildLine(clock.instant(), level, step, prefix + message));
    }

    @Override
    public void heard(String line, boolean isError) {
        if (isError && !line.isBlank()) {
            lastError = line;
        }
        say(isError ? Level.WARN : Level.INFO, (isError ? "[stderr]: " : "[stdout]: ") + line);
    }
}
