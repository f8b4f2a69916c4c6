package dev.cay.prove;

import dev.cay.platform.OwnCay;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import tools.jackson.databind.json.JsonMapper;

/// The resources of an instance on the host, by its names.
///
/// @param containers ids that the runtime knows, except spares
/// @param things     all others, one per line: mounts, links, control groups, loop devices
public record Traces(Set<String> containers, List<String> things) {
    private static final Path CGROUPS = Path.of("/sys/fs/cgroup");
    private static final Path FILLERS = Path.of("_fill");

    static Traces of(OwnCay cay) throws IOException {
        var spares = spares(cay.directory().resolve("state/sandboxes"));
        return new Traces(
                names(cay.directory().resolve("run/runc"), name -> !spares.contains(name)),
                things(cay.instance(), cay.directory()));
    }

    /// Everything with the instance's name; empty when it has left the host.
    static List<String> things(String instance, Path directory) throws IOException {
        var things = new ArrayList<String>();
        names(Path.of("/sys/class/net"), name -> name.startsWith("cay" + instance + "-"))
                .forEach(name -> things.add("link " + name));
        try (var hierarchies = Files.list(CGROUPS)) {
            Stream.concat(Stream.of(CGROUPS), hierarchies.filter(Files::isDirectory))
                    .map(root -> root.resolve("cay-" + instance))
                    .filter(Files::exists)
                    .flatMap(parent -> Stream.concat(
                            Stream.of("cgroup " + parent), groups(parent).map(child -> "cgroup " + child)))
                    .forEach(things::add);
        }
        Files.readAllLines(Path.of("/proc/mounts")).stream()
                .filter(line -> line.contains(directory.toString()))
                .forEach(line -> things.add("mount " + line));
        loopDevices(directory).forEach(device -> things.add("loop device " + device));
        return things;
    }

    /// Loop devices whose file is below a directory.
    private static List<Path> loopDevices(Path directory) throws IOException {
        try (var devices = Files.newDirectoryStream(Path.of("/sys/block"), "loop*")) {
            return StreamSupport.stream(devices.spliterator(), false)
                    .filter(device -> isBackedBelow(directory, device.resolve("loop/backing_file")))
                    .toList();
        }
    }

    private static boolean isBackedBelow(Path directory, Path file) {
        try {
            return Files.readString(file).startsWith(directory + "/");
        } catch (IOException _) {
            return false;
        }
    }

    /// Of sandboxes, and of what brings back memory: the group of all fillers is made with the first one, and stays.
    private static Stream<Path> groups(Path parent) {
        return children(parent).flatMap(child -> child.endsWith(FILLERS) ? children(child) : Stream.of(child));
    }

    private static Stream<Path> children(Path directory) {
        try (var found = Files.list(directory)) {
            return found.filter(Files::isDirectory).toList().stream();
        } catch (IOException _) {
            return Stream.empty();
        }
    }

    private static Set<String> spares(Path records) throws IOException {
        return names(records, name -> {
            try {
                var notes = records.resolve(name).resolve("sandbox.json");
                return JsonMapper.shared()
                        .readTree(Files.readAllBytes(notes))
                        .path("spare")
                        .asBoolean(false);
            } catch (IOException _) {
                return false;
            }
        });
    }

    private static Set<String> names(Path directory, Predicate<String> wanted) throws IOException {
        if (!Files.isDirectory(directory)) {
            return Set.of();
        }
        try (var entries = Files.list(directory)) {
            return entries.map(entry -> entry.getFileName().toString())
                    .filter(wanted)
                    .collect(Collectors.toSet());
        }
    }
}
