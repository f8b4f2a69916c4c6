package dev.cay.node.runtime;

import dev.cay.life.Undo;
import dev.cay.node.host.HostLedger;
import dev.cay.node.host.HostPlan;
import dev.cay.node.host.NetworkLimits;
import dev.cay.node.host.Programs;
import dev.cay.node.host.Reservation;
import dev.cay.node.host.ServerLimits;
import dev.cay.node.host.Slot;
import dev.cay.node.storage.Pool;
import dev.cay.wire.SandboxId;
import dev.cay.wire.node.Resources;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// A runtime and a small pool of its own, with a root file system made of this host's programs. Close leaves nothing.
public final class TestHost implements AutoCloseable {
    static final Resources RESOURCES = new Resources(2, 256, 100);
    static final int MAX_PROCESSES = 200;

    private static final JsonMapper JSON = JsonMapper.builder().build();
    static final ServerLimits SERVERS = new ServerLimits(96, 4);
    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final List<String> PROGRAMS = List.of(
            "bash", "sh", "cat", "dd", "id", "ls", "mkdir", "mknod", "mount", "mv", "rm", "sleep", "stat", "stty",
            "sync", "touch", "unshare");

    final Path directory;
    final GuestProgram guest;
    final Pool pool;
    final HostPlan plan;
    private final Reservation reservation;
    final RuncRuntime runtime;
    final List<Path> layers;
    private final Path script;

    /// The guest of another Cay.
    public static GuestProgram otherGuest(Path parent, Path program) throws IOException {
        return GuestProgram.install(parent, Files.readAllBytes(program), new byte[0]);
    }

    TestHost() throws IOException {
        try (var undo = new Undo()) {
            directory = Files.createTempDirectory("cay-test-");
            undo.step(() -> remove(directory));
            Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwx--x--x"));
            guest = GuestProgram.install(directory.resolve("guest"));
            reservation = HostLedger.ofHost().reserve(directory, 24);
            undo.step(() -> HostLedger.ofHost().release(reservation));
            pool = Pool.open(directory, 512, guest);
            undo.step(pool::unmount);
            plan = reservation.plan();
            runtime = successor();
            layers = List.of(topLayer(), rootfs(directory.resolve("layers/bottom")));
            script = Files.write(
                    directory.resolve("guest.py"),
                    Stream.of(TestHost.class.getResourceAsStream("guest.py"))
                            .map(TestHost::bytes)
                            .findFirst()
                            .orElseThrow());
            undo.keep();
        }
    }

    /// The runtime of a daemon that comes after this one.
    final RuncRuntime successor() {
        return new RuncRuntime(
                guest, directory.resolve("run"), plan.cgroup(), NetworkLimits.DEFAULT, SERVERS, FillSettings.ON);
    }

    /// Of a side sandbox.
    ContainerSpec side(String name, SandboxId owner) {
        var spec = spec(name);
        return new ContainerSpec(
                spec.id(),
                spec.slot(),
                new Resources(RESOURCES.cpuCount(), SERVERS.memoryMB(), RESOURCES.diskSizeMB()),
                MAX_PROCESSES,
                layers,
                spec.writable(),
                name,
                owner,
                List.of());
    }

    /// A sandbox's description, with its disk made.
    ContainerSpec spec(String name) {
        var id = new SandboxId(name);
        Path disk = pool.create(id, RESOURCES.diskSizeMB());
        return new ContainerSpec(id, plan.take(), RESOURCES, MAX_PROCESSES, layers, disk, name);
    }

    JsonNode ask(Container container, String... arguments) {
        var words = new ArrayList<>(List.of("nsenter", "-t", Integer.toString(container.pid()), "-n"));
        words.addAll(List.of("python3", script.toString()));
        words.addAll(List.of(arguments));
        return JSON.readTree(new Command("asking the guest", words, LIMIT).run());
    }

    /// Runs a shell command as root inside.
    JsonNode shell(Container container, String line) {
        return ask(container, "run", "0", "bash", "-c", line);
    }

    String output(Container container, String line) {
        JsonNode result = shell(container, line);
        if (result.path("code").asInt(-1) != 0) {
            throw new AssertionError("%s: %s".formatted(line, result));
        }
        return result.path("out").asString("").strip();
    }

    Path script() {
        return script;
    }

    boolean hasLink(Slot slot) {
        return Files.exists(Path.of("/sys/class/net", slot.veth()));
    }

    /// Directories of this instance in any cgroup hierarchy.
    List<Path> cgroups(String name) {
        try (var hierarchies = Files.list(Path.of("/sys/fs/cgroup"))) {
            return Stream.concat(Stream.of(Path.of("/sys/fs/cgroup")), hierarchies)
                    .map(root -> root.resolve(plan.cgroup().substring(1)).resolve(name))
                    .filter(Files::exists)
                    .toList();
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    @Override
    public void close() throws IOException {
        try (var undo = new Undo()) {
            undo.step(() -> HostLedger.ofHost().release(reservation));
            undo.step(() -> remove(directory));
            undo.step(pool::unmount);
            undo.step(runtime::clear);
            for (SandboxId id : runtime.list()) {
                undo.step(() -> runtime.delete(id));
            }
        }
    }

    private Path topLayer() throws IOException {
        Path layer = Files.createDirectories(directory.resolve("layers/top"));
        Files.createDirectory(layer.resolve("etc"));
        Files.writeString(layer.resolve("etc/which"), "top");
        return layer;
    }

    /// This host's own programs with the libraries they name.
    private static Path rootfs(Path layer) throws IOException {
        Files.createDirectories(layer);
        for (String name : List.of("etc", "proc", "sys", "dev", "run", "tmp", "home", "bin")) {
            Files.createDirectory(layer.resolve(name));
        }
        Files.writeString(layer.resolve("etc/which"), "bottom");
        for (String program : PROGRAMS) {
            Path source = Programs.require(program);
            Files.copy(source, layer.resolve("bin").resolve(program));
            String libraries = new Command("reading libraries", LIMIT, "ldd", source.toString()).run();
            for (String word : libraries.split("\\s+")) {
                Path target = layer.resolve(word.startsWith("/") ? word.substring(1) : ".");
                if (word.startsWith("/") && !Files.exists(target)) {
                    Files.createDirectories(target.getParent());
                    Files.copy(Path.of(word), target);
                }
            }
        }
        return layer;
    }

    private static byte[] bytes(java.io.InputStream stream) {
        try (stream) {
            return stream.readAllBytes();
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private static void remove(Path directory) {
        new Command("removing a test's files", LIMIT, "rm", "-rf", "--one-file-system", directory.toString()).run();
    }
}
