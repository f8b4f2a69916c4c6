package dev.cay.prove.escape;

import dev.cay.life.Undo;
import dev.cay.node.host.Programs;
import dev.cay.testing.ProbeFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/// A container made of a real sandbox's bundle, from which some guards were taken: the control of the probes.
///
/// In place of the sandbox's files it has `cay-probe` alone, as pid 1. Everything else is what the node wrote, but for
/// what {@link BundleEdit} takes away. It lives as long as its probes.
final class WeakSandbox {
    private static final Duration LIMIT = Duration.ofMinutes(2);
    private static final JsonMapper JSON = JsonMapper.shared();

    private final ObjectNode bundle;
    private final OutsideWorld world;

    /// @param config `config.json` of a running sandbox
    WeakSandbox(Path config, OutsideWorld world) throws IOException {
        this.bundle = (ObjectNode) JSON.readTree(Files.readString(config));
        this.world = world;
    }

    /// Makes the attempts without the guards.
    List<Attempt> attack(Set<Guard> removed, List<Probe> probes) throws IOException {
        try (var undo = new Undo()) {
            Path directory = Files.createTempDirectory(world.directory(), "weak-");
            undo.step(() -> OutsideWorld.deleteTree(directory));
            Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwxr-xr-x"));
            String name = "cay-weak-" + ThreadLocalRandom.current().nextInt(1 << 30);
            var edit = new BundleEdit(bundle.deepCopy(), directory.resolve("rootfs"), name, world);
            Path root = makeRoot(directory.resolve("rootfs"), edit.owner(removed));
            var config = edit.without(removed, command(probes));
            JSON.writeValue(directory.resolve("config.json").toFile(), config);
            String output = run(directory, name, removed.contains(Guard.DESCRIPTORS), undo);
            var attempts = Attempt.parse(output);
            if (attempts.isEmpty()) {
                throw new IOException("the control said: " + output + root);
            }
            return attempts;
        }
    }

    private List<String> command(List<Probe> probes) throws IOException {
        var command = new ArrayList<>(List.of("/" + ProbeFile.NAME));
        command.addAll(world.facts());
        probes.forEach(probe -> command.add(probe.name()));
        return command;
    }

    private Path makeRoot(Path root, long owner) throws IOException {
        for (String place : List.of("proc", "sys", "dev", "tmp", "run", "etc")) {
            Files.createDirectories(root.resolve(place));
        }
        Files.copy(world.program(), root.resolve(ProbeFile.NAME), StandardCopyOption.COPY_ATTRIBUTES);
        Files.copy(world.program(), root.resolve("run/.cay-guest"), StandardCopyOption.COPY_ATTRIBUTES);
        Programs.ofHost().require(LIMIT, "chown", "-R", owner + ":" + owner, root.toString());
        return root;
    }

    /// With a directory of the host as descriptor 3, where that is what should be found.
    private static String run(Path directory, String name, boolean leaking, Undo undo) {
        String state = directory.resolve("state").toString();
        undo.step(() -> Programs.ofHost().run(LIMIT, "runc", "--root", state, "delete", "--force", name));
        var words = new ArrayList<>(List.of("runc", "--root", state, "run", "--bundle", directory.toString()));
        if (leaking) {
            words.addAll(List.of("--preserve-fds", "1"));
        }
        words.add(name);
        // A shell, as only it can leave a directory open for another program.
        String script = leaking ? "exec 3</ ; exec \"$@\"" : "exec \"$@\"";
        var command = new ArrayList<>(List.of("sh", "-c", script, "weak"));
        command.addAll(words);
        return Programs.ofHost().run(LIMIT, "", command).output();
    }
}
