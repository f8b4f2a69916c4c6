package dev.cay.node.runtime;

import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The host's cgroup hierarchies, old (v1), new (v2) or both, and one group at the same path in each of them.
///
/// runc makes the group on the unified mount of a hybrid host too, so killing works there as on a new host even though
/// the limits are in the old hierarchies.
final class Cgroups {
    private static final Logger log = LoggerFactory.getLogger(Cgroups.class);

    /// The default weight of a group, in version 2 and in version 1.
    private static final int NEW_WEIGHT = 100;

    private static final int OLD_SHARES = 1024;

    /// More than any group has. The kernel takes what it gets, and says that it was not all.
    private static final String ALL = "1T";

    /// Time after which killed processes are assumed to hang.
    private static final Duration STUCK = Duration.ofMillis(500);

    private final @Nullable Path unified;
    private final Map<String, Path> controllers;

    private Cgroups(@Nullable Path unified, Map<String, Path> controllers) {
        this.unified = unified;
        this.controllers = Map.copyOf(controllers);
    }

    /// The cgroups that are mounted on this host.
    static Cgroups mounted() {
        try {
            return parse(Files.readAllLines(Path.of("/proc/self/mountinfo")));
        } catch (IOException e) {
            throw new CayException(ErrorKind.INTERNAL, "cannot read the host's mounts", e);
        }
    }

    /// Lines of mountinfo: fields, `-`, type, source, options of the hierarchy.
    static Cgroups parse(List<String> mounts) {
        Path unified = null;
        var controllers = new HashMap<String, Path>();
        for (String line : mounts) {
            int dash = line.indexOf(" - ");
            String[] kind = line.substring(dash + 3).split(" ");
            Path place = Path.of(line.split(" ")[4]);
            if (kind[0].equals("cgroup2") && unified == null) {
                unified = place;
            } else if (kind[0].equals("cgroup")) {
                Stream.of(kind[2].split(",")).forEach(option -> controllers.putIfAbsent(option, place));
            }
        }
        return new Cgroups(unified, controllers);
    }

    /// Whether memory and swap together can be limited.
    boolean limitsSwap() {
        Path memory = controllers.get("memory");
        return memory == null || Files.exists(memory.resolve("memory.memsw.limit_in_bytes"));
    }

    /// Whether what sockets hold is limited by a number of its own, and not at all without it: so it is in the old
    /// hierarchy, where the host's whole allowance for TCP and UDP could go to one group.
    boolean limitsSocketsApart() {
        Path memory = controllers.get("memory");
        return memory != null && Files.exists(memory.resolve("memory.kmem.tcp.limit_in_bytes"));
    }

    /// Sets a group's share of the processors under contention.
    ///
    /// @param times its share compared with a group of default weight
    void weigh(String group, double times) {
        Path old = controllers.get("cpu");
        Path root = old == null ? unified : old;
        if (root == null) {
            return;
        }
        try {
            Path file = below(root, group).resolve(old == null ? "cpu.weight" : "cpu.shares");
            write(file, Long.toString(Math.round(times * (old == null ? NEW_WEIGHT : OLD_SHARES))));
        } catch (CayException e) {
            log.atWarn().addKeyValue("group", group).setCause(e).log("cannot change the weight of a cgroup");
        }
    }

    boolean exists(String group) {
        return !everywhere(group).isEmpty();
    }

    /// Makes a group, with its parents, and limits it together with the groups below it. Changes the limits of an
    /// existing one.
    void make(String group, GroupLimits limits) {
        try {
            for (String controller : GroupLimits.CONTROLLERS) {
                Path old = controllers.get(controller);
                if (old == null) {
                    makeBelow(Objects.requireNonNull(unified, "no cgroups are mounted"), group, controller);
                } else {
                    Files.createDirectories(below(old, group));
                }
            }
            limits.write(name -> below(root(name), group), controllers.keySet(), limitsSwap(), limitsSocketsApart());
        } catch (IOException e) {
            throw new CayException(
                    ErrorKind.INTERNAL, "cannot limit the cgroup %s: %s".formatted(group, e.getMessage()), e);
        }
    }

    /// Makes a group and enables its controllers in the parent, as version 2 requires. Parents with processes cannot do
    /// so, so processes are in the lowest groups only.
    private static void makeBelow(Path root, String group, String controller) throws IOException {
        Path above = root;
        for (String name : group.substring(1).split("/")) {
            Path switches = above.resolve("cgroup.subtree_control");
            if (!List.of(Files.readString(switches).strip().split(" ")).contains(controller)) {
                Files.writeString(switches, "+" + controller);
            }
            above = above.resolve(name);
            Files.createDirectories(above);
        }
    }

    private Path root(String controller) {
        Path old = controllers.get(controller);
        return old == null ? Objects.requireNonNull(unified, "no cgroups are mounted") : old;
    }

    /// Ends everything in the group and below it, and waits until nothing is left.
    void kill(String group, Duration limit) {
        Path kill = unified == null ? null : below(unified, group).resolve("cgroup.kill");
        long begin = System.nanoTime();
        long deadline = begin + limit.toNanos();
        long look = begin + STUCK.toNanos();
        while (!members(group).isEmpty()) {
            if (kill != null && Files.exists(kill)) {
                write(kill, "1");
            } else {
                members(group).stream()
                        .map(ProcessHandle::of)
                        .flatMap(Optional::stream)
                        .forEach(Cgroups::killOne);
            }
            // The version 1 freezer does not release frozen processes that were killed.
            thawAll(group);
            if (System.nanoTime() > look) {
                FuseMount.endAllOf(members(group));
                look = System.nanoTime() + STUCK.toNanos();
            }
            if (System.nanoTime() > deadline) {
                throw new CayException(ErrorKind.INTERNAL, "processes in %s do not end".formatted(group));
            }
            pause();
        }
    }

    /// Removes the group everywhere, with those below it; they must be empty of processes.
    void remove(String group, Duration limit) {
        long deadline = System.nanoTime() + limit.toNanos();
        for (Path directory : trees(group)) {
            while (!removed(directory)) {
                if (System.nanoTime() > deadline) {
                    throw new CayException(ErrorKind.INTERNAL, "cannot remove " + directory);
                }
                pause();
            }
        }
    }

    /// Names of the groups below this one, in any hierarchy.
    List<String> children(String group) {
        return everywhere(group).stream()
                .flatMap(directory -> directories(directory).stream())
                .map(entry -> entry.getFileName().toString())
                .distinct()
                .toList();
    }

    private static List<Path> directories(Path directory) {
        try (var entries = Files.list(directory)) {
            return entries.filter(Files::isDirectory).toList();
        } catch (IOException | UncheckedIOException gone) {
            return List.of();
        }
    }

    /// The group in every hierarchy, with those below it; the lowest first.
    private List<Path> trees(String group) {
        return everywhere(group).stream().flatMap(Cgroups::tree).toList();
    }

    private static Stream<Path> tree(Path directory) {
        return Stream.concat(directories(directory).stream().flatMap(Cgroups::tree), Stream.of(directory));
    }

    void freeze(String group) {
        freezeTo(group, "FROZEN", "1");
    }

    void thaw(String group) {
        freezeTo(group, "THAWED", "0");
    }

    /// Whether memory of a group may be written to the swap; what is there stays until it is touched. In version 1
    /// memory and swap have one limit together, which needs no change.
    void allowSwap(String group, boolean may) {
        if (!controllers.containsKey("memory") && unified != null) {
            write(below(unified, group).resolve("memory.swap.max"), may ? "max" : "0");
        }
    }

    /// Has the kernel write the memory of a group to the swap, as far as it may and has room. Takes seconds.
    void pushOut(String group) {
        Path old = controllers.get("memory");
        if (old != null) {
            tryToWrite(below(old, group).resolve("memory.force_empty"), "0");
        } else if (unified != null) {
            tryToWrite(below(unified, group).resolve("memory.reclaim"), ALL);
        }
    }

    /// The kernel fails such a write when it could not do all of it.
    private static void tryToWrite(Path file, String value) {
        try {
            Files.writeString(file, value, StandardOpenOption.WRITE);
        } catch (IOException e) {
            log.atDebug()
                    .setCause(e)
                    .addKeyValue("file", file)
                    .log("the kernel did not reclaim all memory of a cgroup");
        }
    }

    /// Thaws a group with the groups below it, each of which may have been frozen by itself.
    private void thawAll(String group) {
        children(group).forEach(child -> thawAll(group + "/" + child));
        thaw(group);
    }

    /// The old freezer is preferred where there is one: CRIU uses it, and the two do not know of each other.
    private void freezeTo(String group, String oldState, String newState) {
        Path freezer = controllers.get("freezer");
        if (freezer != null) {
            write(below(freezer, group).resolve("freezer.state"), oldState);
        } else if (unified != null) {
            write(below(unified, group).resolve("cgroup.freeze"), newState);
        }
    }

    /// @param whole the group whose processor time is reported: this one or a parent
    Usage usage(String group, String whole) {
        try {
            return controllers.containsKey("memory") ? oldUsage(group, whole) : newUsage(group, whole);
        } catch (IOException | NumberFormatException e) {
            throw new CayException(ErrorKind.NOT_FOUND, "cannot read the use of " + group, e);
        }
    }

    long memoryKills(String group) {
        Path old = controllers.get("memory");
        Path root = old == null ? unified : old;
        try {
            return root == null
                    ? 0
                    : StatFile.read(below(root, group).resolve(old == null ? "memory.events" : "memory.oom_control"))
                            .value("oom_kill");
        } catch (IOException | NumberFormatException e) {
            return 0;
        }
    }

    private Usage oldUsage(String group, String whole) throws IOException {
        Path memory = controller("memory", group);
        var statistics = StatFile.read(memory.resolve("memory.stat"));
        long inactive = statistics.value("total_inactive_file");
        return new Usage(
                Duration.ofNanos(StatFile.read(controller("cpuacct", whole).resolve("cpuacct.usage"))
                        .number()),
                Math.max(
                        0,
                        StatFile.read(memory.resolve("memory.usage_in_bytes")).number() - inactive),
                statistics.value("total_cache"),
                (int) StatFile.read(controller("pids", group).resolve("pids.current"))
                        .number(),
                StatFile.read(memory.resolve("memory.oom_control")).value("oom_kill"));
    }

    private Usage newUsage(String group, String whole) throws IOException {
        Path directory = below(Objects.requireNonNull(unified), group);
        var statistics = StatFile.read(directory.resolve("memory.stat"));
        long inactive = statistics.value("inactive_file");
        long microseconds =
                StatFile.read(below(unified, whole).resolve("cpu.stat")).value("usage_usec");
        return new Usage(
                Duration.ofNanos(microseconds * 1000),
                Math.max(0, StatFile.read(directory.resolve("memory.current")).number() - inactive),
                statistics.value("file"),
                (int) StatFile.read(directory.resolve("pids.current")).number(),
                StatFile.read(directory.resolve("memory.events")).value("oom_kill"));
    }

    /// Processes of the group and of those below it, in any hierarchy.
    List<Integer> members(String group) {
        return trees(group).stream()
                .flatMap(directory -> lines(directory.resolve("cgroup.procs")).stream())
                .map(Integer::valueOf)
                .distinct()
                .toList();
    }

    /// The files to which a process writes 0 to enter the group.
    List<Path> entrances(String group) {
        return everywhere(group).stream()
                .map(directory -> directory.resolve("cgroup.procs"))
                .toList();
    }

    private List<Path> everywhere(String group) {
        var roots = Stream.concat(Stream.ofNullable(unified), controllers.values().stream())
                .distinct();
        return roots.map(root -> below(root, group)).filter(Files::isDirectory).toList();
    }

    private Path controller(String name, String group) throws IOException {
        Path root = controllers.get(name);
        if (root == null) {
            throw new NoSuchFileException(name);
        }
        return below(root, group);
    }

    private static Path below(Path root, String group) {
        return root.resolve(group.substring(1));
    }

    private static boolean removed(Path directory) {
        try {
            Files.deleteIfExists(directory);
            return true;
        } catch (IOException busy) {
            return false;
        }
    }

    private static void killOne(ProcessHandle process) {
        process.destroyForcibly();
    }

    private static void write(Path file, String value) {
        try {
            if (Files.exists(file)) {
                Files.writeString(file, value);
            }
        } catch (IOException e) {
            // A group that ended between the two lines above is fine.
            if (Files.exists(file)) {
                throw new CayException(ErrorKind.INTERNAL, "cannot write to " + file, e);
            }
        }
    }

    private static List<String> lines(Path file) {
        try {
            return Files.readAllLines(file);
        } catch (IOException gone) {
            return List.of();
        }
    }

    private static void pause() {
        try {
            Thread.sleep(Duration.ofMillis(1));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CayException(ErrorKind.CANCELED, "interrupted while a sandbox ended", e);
        }
    }
}
