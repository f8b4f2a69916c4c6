package dev.cay.prove.fuzz;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// A real guest without a node, in namespaces of its own on the files of a sandbox, with a program in place of its
/// node.
final class StrayGuest implements AutoCloseable {
    private static final Duration LIMIT = Duration.ofSeconds(10);
    private static final String PROGRAM = "/run/.cay-guest";

    private final String root;
    private Process starter;
    private ProcessHandle guest;
    private @Nullable Player player;

    StrayGuest(String root) throws IOException {
        this.root = root;
        this.starter = launch(root);
        this.guest = child(starter);
        this.player = knocker();
    }

    private static Process launch(String root) throws IOException {
        return new ProcessBuilder(
                        "unshare",
                        "--fork",
                        "--kill-child",
                        "--pid",
                        "--net",
                        "--uts",
                        "--ipc",
                        "chroot",
                        root,
                        PROGRAM,
                        "init")
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start();
    }

    /// The guest itself, when it has become that.
    private static ProcessHandle child(Process starter) throws IOException {
        long end = System.nanoTime() + LIMIT.toNanos();
        while (System.nanoTime() < end && starter.isAlive()) {
            var child = starter.children().findFirst();
            if (child.isPresent() && isGuest(child.get())) {
                return child.get();
            }
            try {
                Thread.sleep(2);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                break;
            }
        }
        starter.destroyForcibly();
        throw new IOException("no guest without a sandbox");
    }

    private static boolean isGuest(ProcessHandle handle) {
        return handle.info()
                .command()
                .filter(command -> command.endsWith("cay-guest"))
                .isPresent();
    }

    private Player knocker() throws IOException {
        return new Player(List.of("nsenter", "--net=/proc/%d/ns/net".formatted(guest.pid()), "chroot", root), "knock");
    }

    /// Sends it a message; returns how it reacted.
    synchronized String knock(Player.Turn turn) throws IOException {
        var knocker = player;
        if (knocker == null) {
            throw new IOException("the stray guest was closed");
        }
        knocker.begin(turn);
        String how = knocker.end();
        if (!guest.isAlive()) {
            String dead = "it died";
            renew();
            return dead;
        }
        return how;
    }

    /// @return the problem of the old one
    synchronized String renew() throws IOException {
        boolean alive = guest.isAlive();
        close();
        starter = launch(root);
        guest = child(starter);
        player = knocker();
        return alive ? "" : "a guest died";
    }

    @Override
    public synchronized void close() throws IOException {
        if (player != null) {
            player.close();
            player = null;
        }
        guest.destroyForcibly();
        starter.destroyForcibly();
        starter.onExit().orTimeout(LIMIT.toSeconds(), TimeUnit.SECONDS).join();
    }
}
