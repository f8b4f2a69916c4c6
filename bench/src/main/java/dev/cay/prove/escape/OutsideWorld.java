package dev.cay.prove.escape;

import dev.cay.life.Undo;
import dev.cay.testing.ProbeFile;
import java.io.IOException;
import java.net.Inet4Address;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;

/// Targets that a sandbox must not reach: a file that everybody may read, a process that listens on all addresses and
/// on an abstract unix address. Closing it removes them.
public final class OutsideWorld implements AutoCloseable {
    private static final Pattern DISK = Pattern.compile("(?m)^\\s*(\\d+)\\s+(\\d+)\\s+\\d+\\s+(\\S+)$");

    private final Undo closing = new Undo();
    private final Path directory;
    private final Path canary;
    private final Path program;
    private final String secret =
            HexFormat.of().toHexDigits(ThreadLocalRandom.current().nextLong());
    private final String abstractName = "cay-escape-" + secret;
    private final int port;
    private final Process server;

    private OutsideWorld(Path directory) throws IOException {
        this.directory = directory;
        closing.step(() -> deleteTree(directory));
        Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwxr-xr-x"));
        this.program = ProbeFile.unpack(directory);
        this.canary = Files.writeString(directory.resolve("canary"), secret);
        this.port = freePort();
        this.server = closing.add(
                        new Partner(List.of(program.toString(), "serve", Integer.toString(port), abstractName)))
                .process();
    }

    public static OutsideWorld make() throws IOException {
        return new OutsideWorld(Files.createTempDirectory("cay-outside-"));
    }

    Path directory() {
        return directory;
    }

    Path program() {
        return program;
    }

    Path canary() {
        return canary;
    }

    String secret() {
        return secret;
    }

    /// The facts that `cay-probe` gets, apart from those that depend on the sandbox.
    List<String> facts() throws IOException {
        var facts = new ArrayList<>(List.of(
                "pid=" + server.pid(),
                "canary=" + canary,
                "secret=" + secret,
                "abstract=" + abstractName,
                "host=" + String.join(",", hostAddresses(Inet4Address.class)),
                "private=" + String.join(",", privateAddresses())));
        var six = hostAddresses(Inet6Address.class);
        if (!six.isEmpty()) {
            facts.add("six=" + String.join(",", six));
        }
        disk().ifPresent(disk -> facts.add("disk=" + disk));
        return facts;
    }

    int port() {
        return port;
    }

    /// The first disk that we can open ourselves: on a machine that withholds its disks from everybody, their refusal
    /// would tell nothing of sandboxes.
    private static Optional<String> disk() throws IOException {
        return DISK.matcher(Files.readString(Path.of("/proc/partitions")))
                .results()
                .filter(disk -> opens(Path.of("/dev", disk.group(3))))
                .map(disk -> disk.group(1) + ":" + disk.group(2))
                .findFirst();
    }

    private static boolean opens(Path device) {
        try (var _ = Files.newByteChannel(device)) {
            return true;
        } catch (IOException _) {
            return false;
        }
    }

    /// The addresses other machines know this one by. Link-local ones need an interface and mean nothing inside.
    private List<String> hostAddresses(Class<? extends InetAddress> family) throws IOException {
        return NetworkInterface.networkInterfaces()
                .flatMap(NetworkInterface::inetAddresses)
                .filter(family::isInstance)
                .filter(address -> !address.isLoopbackAddress() && !address.isLinkLocalAddress())
                .map(address -> address.getHostAddress().replaceFirst("%.*", "") + ":" + port)
                .distinct()
                .limit(6)
                .toList();
    }

    /// The usual routers, and this machine's own.
    private static List<String> privateAddresses() throws IOException {
        var targets = new ArrayList<>(List.of("10.0.0.1:80", "192.168.0.1:80", "172.16.0.1:80"));
        for (String line : Files.readAllLines(Path.of("/proc/net/route"))) {
            String[] fields = line.split("\\s+");
            if (fields.length > 2 && fields[1].equals("00000000")) {
                int address = Integer.reverseBytes(Integer.parseUnsignedInt(fields[2], 16));
                targets.add("%d.%d.%d.%d:80"
                        .formatted(address >>> 24, address >> 16 & 255, address >> 8 & 255, address & 255));
            }
        }
        return targets;
    }

    private static int freePort() throws IOException {
        try (var socket = new ServerSocket(0)) {
            return socket.getLocalPort();
        }
    }

    static void deleteTree(Path directory) throws IOException, InterruptedException {
        var removal = new ProcessBuilder("rm", "-rf", "--one-file-system", "--", directory.toString()).start();
        removal.waitFor(30, TimeUnit.SECONDS);
    }

    @Override
    public void close() {
        closing.close();
    }
}
