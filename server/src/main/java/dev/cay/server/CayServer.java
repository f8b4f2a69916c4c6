package dev.cay.server;

import dev.cay.http.Handler;
import dev.cay.http.SandboxPorts;
import dev.cay.server.template.Templates;
import dev.cay.wire.node.Node;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Optional;

/// The control plane and the edge of one Cay. Made with values, started, asked for its front door, closed.
public final class CayServer implements AutoCloseable {
    /// What an operator decides about the server.
    ///
    /// @param database   the SQLite file; made when absent, with its directory
    /// @param secret     file of the key that sandboxes' tokens are derived from; made when absent, mode 0600
    /// @param domain     what host names of sandboxes end in, with a port unless that is 443
    /// @param maxTimeout longest life of a sandbox from its start
    public record Settings(Path database, Path secret, String domain, Duration maxTimeout) {}

    public CayServer(Settings settings, Node node, SandboxPorts ports, InstantSource clock) {
        throw new UnsupportedOperationException();
    }

    /// Opens the database, settles with the node what a previous run left, and begins to end sandboxes on time.
    public void start() {
        throw new UnsupportedOperationException();
    }

    /// Answers every request that comes in from outside, and host-form requests from inside sandboxes.
    public Handler frontDoor() {
        throw new UnsupportedOperationException();
    }

    public Templates templates() {
        throw new UnsupportedOperationException();
    }

    /// The API key made by this start, if it was the first one. Kept only hashed: who does not save it has lost it.
    public Optional<String> firstKey() {
        throw new UnsupportedOperationException();
    }

    /// Makes another key for the first team, for whoever lost the first one.
    public String newKey(String name) {
        throw new UnsupportedOperationException();
    }

    /// How many sandboxes run.
    public int running() {
        throw new UnsupportedOperationException();
    }

    /// Stops the server's threads and closes the database. Sandboxes go on running.
    @Override
    public void close() {
        throw new UnsupportedOperationException();
    }
}
