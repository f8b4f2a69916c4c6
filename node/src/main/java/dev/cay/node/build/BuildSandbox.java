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

/// A sandbox for one step of a build: it is in no list, clients cannot reach it, and a later daemon removes it.
public interface BuildSandbox extends AutoCloseable {
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

    /// Receives the output of a program, line by line.
    interface OutputListener {
        void heard(String line, boolean isError);
    }

    /// Runs a program to its end; kills it after the limit, and when interrupted.
    ///
    /// @param input its stdin; null for none
    Exit run(Command command, @Nullable InputStream input, OutputListener listener, Duration limit) throws IOException;

    /// Starts a program that keeps running. Its output is delivered until the sandbox is closed.
    ///
    /// @param tag the tag by which clients find it
    Started start(Command command, String tag, OutputListener listener) throws IOException;

    /// A program that keeps running.
    interface Started {
        /// Its exit; null while it runs.
        @Nullable
        Exit exit();
    }

    FileTree files();

    /// Stops everything inside. Nothing can be run afterwards.
    ///
    /// @return the files that differ from the layers, as overlayfs writes them; they exist until it is closed
    Path stop();

    /// Saves the sandbox with its running processes under a name, as a snapshot for sandboxes.
    Saved save(String name, Keep keep);

    /// Ends it with all that is in it.
    @Override
    void close();
}
