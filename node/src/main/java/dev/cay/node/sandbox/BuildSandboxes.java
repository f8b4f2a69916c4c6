package dev.cay.node.sandbox;

import com.google.protobuf.ByteString;
import dev.cay.node.build.BuildSandbox;
import dev.cay.node.build.BuildSandboxHost;
import dev.cay.node.files.FileTree;
import dev.cay.node.guest.Exit;
import dev.cay.node.image.NodeLayer;
import dev.cay.node.process.Channel;
import dev.cay.node.process.Launch;
import dev.cay.node.process.Output;
import dev.cay.node.process.ProcessInput;
import dev.cay.node.process.Subscription;
import dev.cay.node.snapshot.Snapshot;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.SandboxId;
import dev.cay.wire.TemplateId;
import dev.cay.wire.node.Keep;
import dev.cay.wire.node.Resources;
import dev.cay.wire.node.SandboxKind;
import dev.cay.wire.node.SandboxSpec;
import dev.cay.wire.node.Saved;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Sandboxes for steps of builds. Like spares they have no owner: no list shows them, and the next daemon removes those
/// that a killed one left.
final class BuildSandboxes implements BuildSandboxHost {
    private static final Logger log = LoggerFactory.getLogger(BuildSandboxes.class);
    private static final String PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
    private static final Duration POLL = Duration.ofSeconds(1);
    private static final int CHUNK = 64 << 10;

    /// Starts sandboxes without an owner.
    interface Starter {
        /// Starts a sandbox with only its guest.
        SandboxKeeper step(SandboxSpec spec);

        /// Starts a sandbox as clients get it.
        SandboxKeeper whole(SandboxSpec spec);
    }

    private final Starter starter;
    private final Consumer<SandboxId> kill;
    private final Function<String, Optional<Snapshot>> snapshots;
    private final SecureRandom random;

    /// @param snapshots finds a snapshot by its name
    BuildSandboxes(
            Starter starter,
            Consumer<SandboxId> kill,
            Function<String, Optional<Snapshot>> snapshots,
            SecureRandom random) {
        this.starter = starter;
        this.kill = kill;
        this.snapshots = snapshots;
        this.random = random;
    }

    @Override
    public BuildSandbox open(TemplateId template, List<String> layers, Resources resources) {
        return new Opened(started(() -> starter.step(spec(template, layers, resources))), kill);
    }

    @Override
    public BuildSandbox openWhole(TemplateId template, List<String> layers, Resources resources) {
        var keeper = started(() -> starter.whole(spec(template, layers, resources)));
        var sandbox = new Opened(keeper, kill);
        try {
            keeper.warm(OpenSandbox::awaitWarm);
            return sandbox;
        } catch (RuntimeException e) {
            sandbox.close();
            throw e;
        }
    }

    /// The author of a build can do nothing about a sandbox that does not start but try again.
    private static SandboxKeeper started(Supplier<SandboxKeeper> start) {
        try {
            return start.get();
        } catch (CayException e) {
            if (e.kind() != ErrorKind.INTERNAL) {
                throw e;
            }
            log.atWarn().setCause(e).log("a sandbox for a build did not start");
            throw new CayException(ErrorKind.UNAVAILABLE, "the sandbox for this step did not start; build again", e);
        }
    }

    @Override
    public boolean hasSaved(String name) {
        return snapshots.apply(name).filter(Snapshot::hasMemory).isPresent();
    }

    @Override
    public SavedFiles requireSaved(String name) {
        var snapshot = snapshots
                .apply(name)
                .orElseThrow(() -> new CayException(
                        ErrorKind.NOT_FOUND, "the snapshot to build on was deleted; make another one"));
        return new SavedFiles(snapshot.spec().layers(), snapshot.changedFiles(), snapshot.at());
    }

    /// The view that builds have of a sandbox, of any one.
    static BuildSandbox sandbox(SandboxKeeper keeper, Consumer<SandboxId> kill) {
        return new Opened(keeper, kill);
    }

    private SandboxSpec spec(TemplateId template, List<String> layers, Resources resources) {
        return Spares.nobodys(SandboxId.random(random), new SandboxKind(template, layers, resources));
    }

    /// One of these sandboxes.
    private record Opened(SandboxKeeper keeper, Consumer<SandboxId> kill) implements BuildSandbox {
        @Override
        public Exit run(Command command, @Nullable InputStream input, OutputListener listener, Duration limit)
                throws IOException {
            long end = System.nanoTime() + limit.toNanos();
            try (var output = begin(command, input != null, null)) {
                if (input != null) {
                    Thread.ofVirtual()
                            .name("build-input")
                            .start(() -> feed(output.process().input(), input));
                }
                return follow(output, new LineForwarder(listener), end);
            }
        }

        private static Exit follow(Subscription output, LineForwarder listener, long end) throws IOException {
            try {
                while (System.nanoTime() < end) {
                    switch (output.next(POLL)) {
                        case Output.Data data -> listener.heard(data.channel(), data.bytes());
                        case Output.Silence() -> {}
                        case Output.End(Exit exit) -> {
                            listener.end();
                            return exit;
                        }
                    }
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new CayException(ErrorKind.CANCELED, "the build was stopped", e);
            }
            output.process().killNow();
            throw new CayException(ErrorKind.DEADLINE_EXCEEDED, "it took too long and was stopped");
        }

        /// Writes a program's input. If the program ends before it has read everything, its exit status says why.
        private static void feed(ProcessInput to, InputStream from) {
            try {
                byte[] chunk = new byte[CHUNK];
                for (int length = from.read(chunk); length >= 0; length = from.read(chunk)) {
                    to.writeStdin(length == CHUNK ? chunk : java.util.Arrays.copyOf(chunk, length));
                }
            } catch (IOException | CayException e) {
                log.atDebug().setCause(e).log("a build step did not read all of its input");
            } finally {
                close(to);
            }
        }

        private static void close(ProcessInput to) {
            try {
                to.closeStdin();
            } catch (IOException | CayException e) {
                log.atDebug().setCause(e).log("the input of a build step was already closed");
            }
        }

        @Override
        public Started start(Command command, String tag, OutputListener listener) throws IOException {
            var output = begin(command, false, tag);
            var started = new Running();
            Thread.ofVirtual().name("build-output").start(() -> {
                try (output) {
                    started.exit = follow(output, new LineForwarder(listener), Long.MAX_VALUE);
                } catch (IOException | CayException e) {
                    log.atDebug().setCause(e).log("the output of a start command is not followed any more");
                }
            });
            return started;
        }

        private Subscription begin(Command command, boolean stdin, @Nullable String tag) throws IOException {
            var open = keeper.requireOpen();
            var user = open.files()
                    .findAccount(command.user())
                    .orElseThrow(() -> new CayException(
                            ErrorKind.FAILED, "there is no user '%s' in the sandbox".formatted(command.user())));
            var environment = new TreeMap<>(
                    Map.of("PATH", PATH, "HOME", user.home(), "USER", user.name(), "LOGNAME", user.name()));
            environment.putAll(NodeLayer.environment());
            environment.putAll(command.environment());
            return open.processes()
                    .start(new Launch(
                            command.words(),
                            environment,
                            Map.of(),
                            command.workdir() == null ? user.home() : command.workdir(),
                            user.name(),
                            user.uid(),
                            user.gid(),
                            user.groups(),
                            null,
                            stdin,
                            tag,
                            null));
        }

        @Override
        public FileTree files() {
            return keeper.requireOpen().files();
        }

        @Override
        public Path stop() {
            return keeper.stop();
        }

        @Override
        public Saved save(String name, Keep keep) {
            return keeper.saving().snapshot(name, keep);
        }

        @Override
        public void close() {
            // A build that is stopped ends its sandbox all the same.
            boolean interrupted = Thread.interrupted();
            try {
                kill.accept(keeper.id());
            } catch (CayException e) {
                log.atWarn()
                        .setCause(e)
                        .addKeyValue("sandbox", keeper.id())
                        .log("cannot end the sandbox of a build; the node tries again");
            } finally {
                if (interrupted) {
                    Thread.currentThread().interrupt();
                }
            }
        }
    }

    /// A start command that is followed by another thread.
    private static final class Running implements BuildSandbox.Started {
        private volatile @Nullable Exit exit;

        @Override
        public @Nullable Exit exit() {
            return exit;
        }
    }

    /// Makes lines of what comes in pieces. A line that does not end is cut.
    private static final class LineForwarder {
        private static final int LONGEST = 8 << 10;

        private final BuildSandbox.OutputListener listener;
        private final Map<Channel, ByteString> begun = new java.util.EnumMap<>(Channel.class);

        private LineForwarder(BuildSandbox.OutputListener listener) {
            this.listener = listener;
        }

        private void heard(Channel channel, ByteString bytes) {
            var all = begun.getOrDefault(channel, ByteString.EMPTY).concat(bytes);
            int from = 0;
            for (int i = 0; i < all.size(); i++) {
                if (all.byteAt(i) == '\n' || i - from >= LONGEST) {
                    tell(channel, all.substring(from, i));
                    from = all.byteAt(i) == '\n' ? i + 1 : i;
                }
            }
            begun.put(channel, all.substring(from));
        }

        private void end() {
            begun.forEach((channel, rest) -> {
                if (!rest.isEmpty()) {
                    tell(channel, rest);
                }
            });
        }

        /// Forwards a line as a terminal would show it after it was overwritten several times.
        private void tell(Channel channel, ByteString bytes) {
            String line = bytes.toStringUtf8().stripTrailing();
            listener.heard(line.substring(line.lastIndexOf('\r') + 1), channel == Channel.STDERR);
        }
    }
}
