package dev.cay.testing;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;

/// Ports of loopback for servers that a test starts.
public final class OwnPort {
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final Duration PAUSE = Duration.ofMillis(50);

    /// Something that fails as long as a server is not ready.
    interface Check {
        void run() throws IOException, InterruptedException;
    }

    private OwnPort() {}

    /// A port at which no server listens.
    public static int free() throws IOException {
        try (var socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    /// Waits until the server listens at the port and the check succeeds.
    ///
    /// @param name what the server is called when it does not start
    /// @param log  the server's output, which the failure shows
    static void await(Process server, int port, Check check, String name, Path log)
            throws IOException, InterruptedException {
        long end = System.nanoTime() + PATIENCE.toNanos();
        while (true) {
            try (var _ = new Socket(InetAddress.getLoopbackAddress(), port)) {
                check.run();
                return;
            } catch (IOException e) {
                if (!server.isAlive() || System.nanoTime() > end) {
                    throw new IOException("%s did not start: %s".formatted(name, Files.readString(log)), e);
                }
                Thread.sleep(PAUSE);
            }
        }
    }
}
