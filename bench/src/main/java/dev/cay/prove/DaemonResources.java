package dev.cay.prove;

import dev.cay.node.linux.BtrfsQuotas;
import dev.cay.node.linux.ErrnoException;
import dev.cay.platform.OwnCay;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import tools.jackson.databind.json.JsonMapper;

/// The host resources of a daemon's sandboxes, also of saved ones.
public record DaemonResources(OwnCay cay) {
    private Path pool() {
        return cay.directory().resolve("state/pool");
    }

    /// Whether any part of the sandbox but its snapshot is on the host.
    boolean houses(String sandbox) {
        return Files.exists(pool().resolve("sandboxes").resolve(sandbox));
    }

    /// Whether the snapshot of a paused sandbox is compressed already.
    boolean isCompressed(String sandbox) {
        try (var saved = Files.newDirectoryStream(pool().resolve("snapshots"), sandbox + ".*")) {
            for (Path snapshot : saved) {
                if (Files.exists(snapshot.resolve("compressed"))) {
                    return true;
                }
            }
            return false;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// The host's number for a sandbox's first process: another one after each restore, the same after a thaw.
    long firstProcess(String sandbox) throws IOException {
        var state = cay.directory().resolve("run/runc").resolve(sandbox).resolve("state.json");
        return JsonMapper.shared()
                .readTree(Files.readAllBytes(state))
                .path("init_process_pid")
                .asLong();
    }

    /// The resources that exist now and did not before. Some are removed in the background, which has until the limit.
    public Set<String> left(Set<String> before, Duration limit) throws IOException, InterruptedException {
        long end = System.nanoTime() + limit.toNanos();
        while (true) {
            var left = new TreeSet<>(things());
            left.removeAll(before);
            if (left.isEmpty() || System.nanoTime() > end) {
                return left;
            }
            Thread.sleep(200);
        }
    }

    /// All resources, one per line: links, control groups, mounts, loop devices, files, saved sandboxes, disks,
    /// processes.
    public Set<String> things() throws IOException {
        var things = new TreeSet<>(Traces.things(cay.instance(), cay.directory()));
        for (String place : List.of("state/pool/sandboxes", "state/pool/snapshots", "state/sandboxes", "run/runc")) {
            entries(cay.directory().resolve(place)).forEach(entry -> things.add("entry " + entry));
        }
        things.addAll(disks());
        things.addAll(processes());
        return things;
    }

    /// All disks, also deleted ones until the file system has forgotten them; none where there is no btrfs.
    private List<String> disks() {
        try {
            return BtrfsQuotas.referenced(pool().toString()).keySet().stream()
                    .map(number -> "disk " + number)
                    .toList();
        } catch (ErrnoException _) {
            return List.of();
        }
    }

    private static List<Path> entries(Path directory) throws IOException {
        if (!Files.isDirectory(directory)) {
            return List.of();
        }
        try (var entries = Files.list(directory)) {
            return entries.toList();
        }
    }

    /// All processes of the sandboxes, and those that were started for them.
    private List<String> processes() throws IOException {
        var found = new ArrayList<String>();
        try (Stream<Path> all = Files.list(Path.of("/proc"))) {
            for (Path process : all.toList()) {
                String pid = process.getFileName().toString();
                if (pid.chars().allMatch(Character::isDigit)
                        && Long.parseLong(pid) != cay.daemon().pid()
                        && isOurs(process)) {
                    found.add("process " + pid + " "
                            + read(process.resolve("comm")).strip());
                }
            }
        }
        return found;
    }

    private boolean isOurs(Path process) {
        return read(process.resolve("cgroup")).contains("/cay-" + cay.instance() + "/")
                || read(process.resolve("cmdline")).contains(cay.directory().toString());
    }

    /// The file's content; empty for a process that has ended meanwhile.
    private static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException _) {
            return "";
        }
    }
}
