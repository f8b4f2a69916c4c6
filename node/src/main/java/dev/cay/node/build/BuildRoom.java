package dev.cay.node.build;

import dev.cay.node.files.FileTree;
import dev.cay.node.guest.Exit;
import dev.cay.wire.node.Keep;
import dev.cay.wire.node.Saved;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// A sandbox that is there for one step of a build: nobody lists, finds or reaches it, and no later daemon
/// takes it up.
public interface BuildRoom extends AutoCloseable {
    /// A program to be run inside.
    ///
    /// @param user        must be one of the sandbox's
    /// @param workdir     null for the user's home
    /// @param environment beside what every process has
    record Command(
            List<String> words, String user, @Nullable String workdir, Map<String, String> environment) {
        public Command {
            words = List.copyOf(words);
            environment = Map.copyOf(environment);
        }
    }

    /// Hears what a program prints, line by line.
    interface OutputListener {
        void heard(String line, boolean isError);
    }

    /// Runs a program to its end; past the limit, and when interrupted, it is killed.
    ///
    /// @param input what it reads; null for nothing
    Exit run(Command command, @Nullable InputStream input, OutputListener listener, Duration limit) throws IOException;

    /// Starts a program that goes on. What it prints comes until the room is closed.
    ///
    /// @param tag what clients find it by
    Started start(Command command, String tag, OutputListener listener) throws IOException;

    /// A program that goes on.
    interface Started {
        /// How it ended; null while it runs.
        @Nullable
        Exit exit();
    }

    FileTree files();

    /// Stops all that runs inside. Nothing can be run afterwards.
    ///
    /// @return the files that differ from the layers, as overlayfs writes them; there until the room is closed
    Path stop();

    /// Saves the room with all that runs in it under a name, for sandboxes to go on from.
    Saved save(String name, Keep keep);

    /// Ends it with all that is in it.
    @Override
    void close();
}
