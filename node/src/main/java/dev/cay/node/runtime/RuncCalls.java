package dev.cay.node.runtime;

import dev.cay.life.Trees;
import dev.cay.node.host.Programs;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.SandboxId;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// Calls of runc: each returns when runc has done it, or throws with the reason.
final class RuncCalls {
    private static final Duration START_LIMIT = Duration.ofSeconds(30);
    private static final Duration SAVE_LIMIT = Duration.ofMinutes(5);

    /// Options for both saving and restoring: runc sets up the network again, connections and file locks are kept.
    private static final List<String> CRIU_OPTIONS =
            List.of("--empty-ns", "network", "--tcp-established", "--file-locks");

    /// For a save that takes processor time and disk from neighbours, and that no client waits for.
    private static final List<String> BEHIND_OTHERS = List.of("nice", "-n", "10", "ionice", "-c", "2", "-n", "7");

    /// Tells the shim in CRIU whether TCP connections are saved or restored. Only then CRIU has to hold traffic back,
    /// which takes four programs. `look`: it looks for connections in the namespace; `none`: there are none.
    private static final String CONNECTIONS = "CAY_CONNECTIONS";

    private static final String CONNECTION_IMAGE = "tcp-stream-";

    /// Names a file to the shim in CRIU. When it exists, the dump fails.
    private static final String GIVE_UP = "CAY_GIVE_UP";

    /// Tells the shim in CRIU to have the disk write memory while it is dumped.
    private static final String BEHIND = "CAY_BEHIND";

    private final GuestProgram guest;
    private final Path states;

    /// @param states where runc keeps its own state
    RuncCalls(GuestProgram guest, Path states) {
        this.guest = guest;
        this.states = states;
    }

    /// Starts what the bundle describes.
    void start(ContainerSpec spec, Bundle bundle) {
        var words = List.of("run", "--detach", "--bundle", bundle.directory().toString());
        launch("starting the sandbox", START_LIMIT, spec, bundle, words, null, Map.of());
    }

    /// Restores from the images, which are not changed: files that must differ here are overlaid meanwhile.
    ///
    /// @param filler brings the memory in; null if CRIU shall
    void restore(ContainerSpec spec, Bundle bundle, Path images, @Nullable Filler filler) throws IOException {
        Path links = images.resolveSibling("restoring-" + spec.id());
        try {
            Trees.delete(links);
            long uidBase = Integer.toUnsignedLong(spec.slot().uidBase());
            Path usable = UserNamespaceImage.withBase(images, uidBase, links);
            Bundle.makePassable(usable);
            var words = new ArrayList<>(List.of("restore", "--detach"));
            words.addAll(criuWords(usable, bundle));
            if (filler != null) {
                words.add("--lazy-pages");
            }
            words.addAll(List.of("--bundle", bundle.directory().toString()));
            launch("restoring the sandbox", SAVE_LIMIT, spec, bundle, words, filler, connections(images));
        } finally {
            Trees.delete(links);
        }
    }

    /// Writes images of a container's processes.
    void checkpoint(SandboxId id, Bundle bundle, Path images, ContainerRuntime.After after) {
        try {
            // CRIU opens images as the sandbox's root too; those that root may not read it has opened before.
            Bundle.makePassable(images);
        } catch (IOException e) {
            throw new CayException(ErrorKind.INTERNAL, "cannot make " + images, e);
        }
        var words = new ArrayList<>(after == ContainerRuntime.After.STAY_PAUSED ? BEHIND_OTHERS : List.of());
        words.addAll(runc(bundle));
        words.add("checkpoint");
        words.addAll(criuWords(images, bundle));
        if (after != ContainerRuntime.After.END) {
            words.add("--leave-running");
        }
        words.add(id.value());
        var command = new Command("saving the sandbox's processes", words, SAVE_LIMIT);
        var variables = new HashMap<>(
                Map.of(CONNECTIONS, "look", GIVE_UP, bundle.giveUp().toString()));
        if (after == ContainerRuntime.After.STAY_PAUSED) {
            variables.put(BEHIND, "yes");
        }
        execute(command, bundle, null, variables);
        try {
            OpenFileSizes.forget(images, bundle.mountedAt().keySet());
        } catch (IOException e) {
            throw new CayException(ErrorKind.INTERNAL, "cannot change the list of open files in " + images, e);
        }
    }

    private static Map<String, String> connections(Path images) throws IOException {
        try (var files = Files.list(images)) {
            boolean connected =
                    files.anyMatch(file -> file.getFileName().toString().startsWith(CONNECTION_IMAGE));
            return connected ? Map.of() : Map.of(CONNECTIONS, "none");
        }
    }

    private static List<String> criuWords(Path images, Bundle bundle) {
        var words = new ArrayList<>(CRIU_OPTIONS);
        words.addAll(List.of("--image-path", images.toString()));
        words.addAll(List.of("--work-path", bundle.criuWork().toString()));
        return words;
    }

    /// The guest mounts what the container stands on, then becomes runc.
    private void launch(
            String doing,
            Duration limit,
            ContainerSpec spec,
            Bundle bundle,
            List<String> runcArguments,
            @Nullable Filler filler,
            Map<String, String> variables) {
        var words = new ArrayList<String>();
        words.addAll(List.of(guest.path().toString(), "launch"));
        words.addAll(List.of("--uid-base", Integer.toUnsignedString(spec.slot().uidBase())));
        spec.layers().forEach(layer -> words.addAll(List.of("--lower", layer.toString())));
        words.addAll(List.of("--upper", spec.writable().toString()));
        bundle.mounts(spec)
                .forEach((place, mount) -> words.addAll(List.of(
                        "--mount",
                        mount.directory().toString(),
                        "--place",
                        place.toString(),
                        "--target",
                        mount.target(),
                        "--rights",
                        mount.readOnly() ? "ro" : "rw")));
        words.addAll(List.of("--merged", bundle.root().toString(), "--"));
        words.addAll(runc(bundle));
        words.addAll(runcArguments);
        words.add(spec.id().value());
        execute(new Command(doing, words, limit), bundle, filler, variables);
    }

    private List<String> runc(Bundle bundle) {
        return List.of(
                Programs.require("runc").toString(),
                "--root",
                states.toString(),
                "--log",
                bundle.log().toString(),
                "--log-format",
                "json",
                "--criu",
                guest.criu().toString());
    }

    /// Runs runc, whose errors are in its log: its own stdio would become that of pid 1, and a file of the host there
    /// cannot be checkpointed.
    private static void execute(
            Command command, Bundle bundle, @Nullable Filler filler, Map<String, String> variables) {
        var failure = new RuncFailure(bundle);
        try {
            failure.reset();
            Process process = command.start(Path.of("/dev/null"), bundle.complaint(), variables);
            Launcher.of(bundle).remember(process.pid());
            var criu = new CutCriu(process.toHandle());
            int code = command.await(process, () -> {
                criu.look();
                if (filler != null && filler.fill().isLost()) {
                    // CRIU may wait for a page that nobody brings any more.
                    process.descendants().forEach(ProcessHandle::destroyForcibly);
                    process.destroyForcibly();
                }
            });
            if (code != 0) {
                throw failure.describe(command, code);
            }
        } catch (IOException e) {
            throw new CayException(ErrorKind.INTERNAL, command.doing() + ": cannot run runc", e);
        }
    }
}
