package dev.cay.bench;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;

/// The machine that figures are measured on: what it is, and how fast it is without Cay, so that figures of different
/// machines, and of one that is busy, can be compared.
final class Machine {
    private static final Duration WARM_UP = Duration.ofSeconds(1);
    private static final Duration MEASURED = Duration.ofSeconds(2);
    private static final int PROGRAM_SECONDS = 10;
    private static final int MESSAGE = 128;
    private static final long MOST_TOUCHED = 4L << 30;
    private static final long PIECE = 64 << 20;

    /// @param requests over one connection of the loopback device, in a second
    /// @param programs started and waited for one after the other, in a second
    record Speed(double requests, double programs) {
        /// @param after the speed at the end of the measurements
        List<Figure> figures(Speed after) {
            return List.of(
                    Figure.of(
                                    "this machine: requests over loopback",
                                    "req/s",
                                    requests,
                                    "%d bytes there and back between two threads, one connection".formatted(MESSAGE))
                            .beside("after the measurements", after.requests),
                    Figure.of(
                                    "this machine: programs started",
                                    "per s",
                                    programs,
                                    "fork, exec and exit of `/bin/true`, one after the other")
                            .beside("after the measurements", after.programs));
        }
    }

    private Machine() {}

    /// Cores, memory, kernel, CRIU and the file system of `/run`, in one line.
    static String line() {
        return String.format(
                Locale.ROOT,
                "%d cores, %.0f GiB, Linux %s, %s, %s, /run is %s",
                Runtime.getRuntime().availableProcessors(),
                kilobytes("MemTotal:") / 1024.0 / 1024,
                System.getProperty("os.version"),
                System.getProperty("os.arch"),
                criu(),
                fileSystem(Path.of("/run")));
    }

    /// Touches memory that the machine may not have used since it began. On a virtual machine the first touch takes
    /// three times as long as later ones, and would count for the first measurement that needs much.
    static void touchMemory() {
        long bytes = Math.min(MOST_TOUCHED, kilobytes("MemAvailable:") * 1024 / 2);
        try (var arena = Arena.ofConfined()) {
            for (long touched = 0; touched < bytes; touched += PIECE) {
                arena.allocate(PIECE).fill((byte) 1);
            }
        }
    }

    static Speed speed() throws IOException, InterruptedException {
        return new Speed(requests(), programs());
    }

    private static double requests() throws IOException {
        try (var server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            Thread.ofPlatform().daemon().start(() -> answer(server));
            try (var client = new Socket(server.getInetAddress(), server.getLocalPort())) {
                client.setTcpNoDelay(true);
                ask(client, WARM_UP);
                return ask(client, MEASURED);
            }
        }
    }

    private static void answer(ServerSocket server) {
        try (var client = server.accept()) {
            client.setTcpNoDelay(true);
            var message = new byte[MESSAGE];
            while (client.getInputStream().readNBytes(message, 0, MESSAGE) == MESSAGE) {
                client.getOutputStream().write(message);
            }
        } catch (IOException _) {
            // The client has enough.
        }
    }

    /// Requests in a second.
    private static double ask(Socket server, Duration time) throws IOException {
        var message = new byte[MESSAGE];
        long began = System.nanoTime();
        int count = 0;
        while (System.nanoTime() - began < time.toNanos()) {
            server.getOutputStream().write(message);
            server.getInputStream().readNBytes(message, 0, MESSAGE);
            count++;
        }
        return count * 1e9 / (System.nanoTime() - began);
    }

    private static double programs() throws IOException, InterruptedException {
        long began = System.nanoTime();
        int count = 0;
        while (System.nanoTime() - began < MEASURED.toNanos()) {
            var program = new ProcessBuilder("/bin/true").start();
            if (!program.waitFor(PROGRAM_SECONDS, TimeUnit.SECONDS)) {
                program.destroyForcibly();
                throw new IOException("/bin/true does not end");
            }
            count++;
        }
        return count * 1e9 / (System.nanoTime() - began);
    }

    private static long kilobytes(String field) {
        try {
            return Files.readAllLines(Path.of("/proc/meminfo")).stream()
                    .filter(line -> line.startsWith(field))
                    .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")))
                    .findFirst()
                    .orElse(0);
        } catch (IOException _) {
            return 0;
        }
    }

    private static String criu() {
        try {
            var program = new ProcessBuilder("criu", "--version")
                    .redirectErrorStream(true)
                    .start();
            String said = new String(program.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            return said.lines()
                    .filter(line -> line.startsWith("Version: "))
                    .map(line -> "CRIU " + line.substring("Version: ".length()))
                    .findFirst()
                    .orElse("no CRIU");
        } catch (IOException _) {
            return "no CRIU";
        }
    }

    private static String fileSystem(Path place) {
        try {
            return Files.getFileStore(place).type();
        } catch (IOException _) {
            return "unknown";
        }
    }
}
