package dev.cay.node.guest;

import dev.cay.life.Trees;
import dev.cay.node.linux.FdPoller;
import dev.cay.node.linux.HostThreads;
import dev.cay.node.linux.NetNamespace;
import dev.cay.node.process.Workers;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;

/// A guest that is pid 1 of its own pid, network and uts namespaces, with the host's files: all of a sandbox that
/// processes need. Ends with everything in it when closed.
public final class TestSandbox implements AutoCloseable {
    public static final Duration LIMIT = Duration.ofMinutes(1);

    private final Path directory;
    private final Process unshare;
    private final long init;
    private final FdPoller poller;
    private final HostThreads logs = new HostThreads("test-logs", 2, 1024);
    private final HostThreads guests = new HostThreads("test-guests", 2, 1024);
    private final HostThreads terminals = new HostThreads("test-terminals", 2, 1024);

    public TestSandbox() throws Exception {
        this(packed());
    }

    /// @param program the guest
    public TestSandbox(byte[] program) throws Exception {
        directory = Files.createTempDirectory(Path.of("/dev/shm"), "cay-test");
        Path guest = directory.resolve("cay-guest");
        Files.write(guest, program);
        Files.setPosixFilePermissions(guest, PosixFilePermissions.fromString("rwxr-xr-x"));
        unshare = new ProcessBuilder(
                        "unshare",
                        "--fork",
                        "--kill-child",
                        "--pid",
                        "--net",
                        "--uts",
                        "--mount-proc",
                        guest.toString(),
                        "init")
                .redirectErrorStream(true)
                .redirectOutput(directory.resolve("guest.out").toFile())
                .start();
        init = awaitChild();
        poller = new FdPoller();
        poller.start();
    }

    private static byte[] packed() throws IOException {
        try (InputStream binary = TestSandbox.class.getResourceAsStream("/dev/cay/guest/cay-guest")) {
            return Objects.requireNonNull(binary, "build the guest first").readAllBytes();
        }
    }

    /// A guest as it was at an earlier version of the protocol.
    public static byte[] guestOf(int version) throws Exception {
        Path program = Files.createTempFile(Path.of("/dev/shm"), "cay-guest", "");
        try {
            var command = new ArrayList<>(
                    List.of("gcc", "-std=gnu17", "-O1", "-static", "-DVERSION=" + version, "-o", program.toString()));
            try (var sources = Files.newDirectoryStream(Path.of("../guest/src"), "*.c")) {
                sources.forEach(source -> command.add(source.toString()));
            }
            int status = new ProcessBuilder(command).inheritIO().start().waitFor();
            if (status != 0) {
                throw new IllegalStateException("gcc ended with " + status);
            }
            return Files.readAllBytes(program);
        } finally {
            Files.delete(program);
        }
    }

    private long awaitChild() throws Exception {
        long deadline = System.nanoTime() + LIMIT.toNanos();
        while (System.nanoTime() < deadline) {
            var child = unshare.children().filter(ProcessHandle::isAlive).findFirst();
            if (child.isPresent() && isGuest(child.get().pid())) {
                return child.get().pid();
            }
            TimeUnit.MILLISECONDS.sleep(2);
        }
        throw new IllegalStateException(Files.readString(directory.resolve("guest.out")));
    }

    private static boolean isGuest(long pid) {
        try {
            return Files.readString(Path.of("/proc/%d/cmdline".formatted(pid))).startsWith("/dev/shm");
        } catch (IOException _) {
            return false;
        }
    }

    public long pid() {
        return init;
    }

    public Path directory() {
        return directory;
    }

    public FdPoller poller() {
        return poller;
    }

    public Workers workers() {
        return new Workers(poller, logs, guests, terminals);
    }

    public HostThreads threads() {
        return logs;
    }

    public NetNamespace network() throws IOException {
        return NetNamespace.open(init, logs);
    }

    public GuestLink link() throws IOException {
        try (var network = network()) {
            return GuestLink.open(network, poller, LIMIT);
        }
    }

    /// Descriptors of this JVM; the measure of a leak.
    public static List<String> descriptors() {
        try (var entries = Files.list(Path.of("/proc/self/fd"))) {
            return entries.map(entry -> {
                        try {
                            return entry.getFileName() + " " + Files.readSymbolicLink(entry);
                        } catch (IOException e) {
                            return "";
                        }
                    })
                    .filter(text -> text.contains("pipe:") || text.contains("ptmx") || text.contains("cay-test"))
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() throws IOException {
        unshare.destroyForcibly();
        ProcessHandle.of(init).ifPresent(ProcessHandle::destroyForcibly);
        unshare.onExit().orTimeout(1, TimeUnit.MINUTES).join();
        poller.close();
        logs.close();
        guests.close();
        terminals.close();
        deleteDirectory();
    }

    /// A thread of the table may still write into the directory: what it adds meanwhile is deleted in another round.
    private void deleteDirectory() throws IOException {
        long deadline = System.nanoTime() + LIMIT.toNanos();
        while (true) {
            try {
                Trees.delete(directory);
                return;
            } catch (DirectoryNotEmptyException e) {
                if (System.nanoTime() > deadline) {
                    throw e;
                }
            }
        }
    }
}
