package dev.cay.node.build;

import dev.cay.wire.node.BuildLine;
import dev.cay.wire.node.LogLine.Level;
import dev.cay.wire.node.NodeBuilds;
import java.time.InstantSource;
import org.jspecify.annotations.Nullable;

/// Says in a build's log what is done, always for the step that is done now.
final class BuildVoice implements BuildRoom.OutputListener {
    private final NodeBuilds.Watcher watcher;
    private final InstantSource clock;
    private volatile @Nullable String step;
    private volatile String prefix = "";
    private volatile String lastError = "";

    BuildVoice(NodeBuilds.Watcher watcher, InstantSource clock) {
        this.watcher = watcher;
        this.clock = clock;
    }

    /// From now on this is done.
    ///
    /// @param name   as clients know the step
    /// @param before what stands before each line
    void at(@Nullable String name, String before) {
        step = name;
        prefix = before.isEmpty() ? "" : before + " ";
        lastError = "";
    }

    @Nullable
    String step() {
        return step;
    }

    /// What the step said last that looked like a complaint; empty if nothing did.
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
