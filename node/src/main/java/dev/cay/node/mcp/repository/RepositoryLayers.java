package dev.cay.node.mcp.repository;

import dev.cay.node.host.Programs;
import dev.cay.node.image.ChangedFiles;
import dev.cay.node.image.LayerStore;
import dev.cay.node.image.Unused;
import dev.cay.node.mcp.catalog.CatalogServer;
import dev.cay.node.mcp.catalog.LaunchPlan;
import dev.cay.node.mcp.side.SideSandbox;
import dev.cay.node.mcp.side.SideSandboxHost;
import dev.cay.node.process.Workers;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.SandboxId;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.stream.Stream;

/// Layers with servers from Git repositories: one with a clone of a commit, and one on top of it with the files that
/// installCmd changed. Thread-safe.
///
/// Both are made once for each commit and stay until they were unused for a while. They belong to one team, or to one
/// sandbox where no team is known: files that a repository's code leaves in a layer reach nobody else. Of several
/// concurrent callers one makes a layer, in a side sandbox.
public final class RepositoryLayers {
    /// The directory of the clone in the home of the user that servers run as.
    public static final String DIRECTORY = "server";

    /// Counts up when the same commit makes other layers.
    private static final String VERSION = "1";

    /// Time limit for clone and install together, including waits for other callers.
    public static final Duration LIMIT = Duration.ofMinutes(10);

    /// How long the newest known commit is not looked up again: a start asks several times.
    private static final Duration FRESH = Duration.ofSeconds(10);

    /// How often a clone is repeated that finds a newer commit than was announced.
    private static final int TRIES = 3;

    private static final int SHOWN = 300;
    private static final int SHOWN_OF_COMMIT = 12;

    /// Its output goes to stderr, of which the end is kept.
    private static final String INSTALL = "(cd server && exec sh -c \"$1\") >&2 < /dev/null; exit $?";

    /// The layers of an installed server.
    ///
    /// @param layers  top first
    /// @param warning a sentence for the user when it is not the repository's current commit; else empty
    public record Ready(List<String> layers, String warning) {
        public Ready {
            layers = List.copyOf(layers);
        }
    }

    private record Found(Ready ready, long at) {}

    /// The request for one repository.
    ///
    /// @param team     empty where the sandbox's team is not known
    /// @param base     layers below, top first
    /// @param progress gets the current step
    private record Wish(
            SandboxId owner,
            String key,
            LaunchPlan.Repository start,
            Optional<String> team,
            List<String> base,
            long deadline,
            Consumer<String> progress) {
        String scope() {
            return team.map(id -> "team " + id).orElse("sandbox " + owner);
        }

        Duration left() {
            return Duration.ofNanos(deadline - System.nanoTime());
        }

        List<String> on(Stream<String> layers) {
            return Stream.concat(layers, base.stream()).toList();
        }
    }

    private final LayerStore layers;
    private final SideSandboxHost sides;
    private final SidePrograms scripts;
    private final RepositoryTokens tokens;
    private final KnownCommits known;
    private final LongSupplier nanos;
    private final Programs programs = Programs.ofHost();
    private final Map<String, Found> found = new ConcurrentHashMap<>();

    /// @param notes directory in which the commits are kept that were installed last
    /// @param nanos the time, as {@link System#nanoTime} tells it
    public RepositoryLayers(
            LayerStore layers,
            SideSandboxHost sides,
            Workers workers,
            RepositoryTokens tokens,
            Path notes,
            LongSupplier nanos)
            throws IOException {
        this.layers = layers;
        this.sides = sides;
        this.scripts = new SidePrograms(workers);
        this.tokens = tokens;
        this.known = new KnownCommits(notes);
        this.nanos = nanos;
    }

    /// The directory in which an instance keeps the last installed commits.
    ///
    /// @param stateDir of the instance
    public static Path notes(Path stateDir) {
        return stateDir.resolve("mcp-repositories");
    }

    /// The layers of the newest commit, made now if they are missing; those of the last installed commit if the
    /// repository's host does not answer. Call it on a platform thread, because it copies files; an interrupt ends
    /// it.
    ///
    /// @param owner    the sandbox whose side sandboxes do the work
    /// @param base     layers below, top first
    /// @param progress gets the current step
    public Ready require(
            SandboxId owner, String key, LaunchPlan.Repository start, List<String> base, Consumer<String> progress) {
        var wish = new Wish(owner, key, start, sides.team(owner), base, System.nanoTime() + LIMIT.toNanos(), progress);
        String name = known.name(Stream.of("commit", wish.scope(), start.url(), start.install()));
        try (var _ = layers.use()) {
            var now = found.get(name);
            if (now != null && isFresh(now) && areThere(now.ready().layers())) {
                return now.ready();
            }
            var ready = newest(wish, name);
            found.values().removeIf(old -> !isFresh(old));
            found.put(name, new Found(ready, nanos.getAsLong()));
            return ready;
        }
    }

    private boolean isFresh(Found one) {
        return nanos.getAsLong() - one.at() < FRESH.toNanos();
    }

    private boolean areThere(List<String> keys) {
        return keys.stream().allMatch(layers::claim);
    }

    private Ready newest(Wish wish, String name) {
        String commit;
        try {
            commit = cloned(wish);
        } catch (CayException e) {
            var before = known.find(name).flatMap(last -> before(wish, last, e.userMessage()));
            if (e.kind() == ErrorKind.UNAVAILABLE && before.isPresent()) {
                return before.get();
            }
            throw e;
        }
        var keys = keys(wish, commit);
        if (keys.size() > 1) {
            layers.build(keys.getFirst(), rootfs -> install(wish, keys.getLast(), rootfs));
        }
        known.note(name, commit);
        return new Ready(wish.on(keys.stream()), "");
    }

    private Optional<Ready> before(Wish wish, String commit, String reason) {
        var all = wish.on(keys(wish, commit).stream());
        return areThere(all)
                ? Optional.of(new Ready(
                        all,
                        "the newest commit is not known, and commit %s is used, which was installed before: %s"
                                .formatted(commit.substring(0, SHOWN_OF_COMMIT), reason)))
                : Optional.empty();
    }

    /// Keys of the layers of a commit, top first.
    private List<String> keys(Wish wish, String commit) {
        var inputs = new ArrayList<>(List.of(VERSION, wish.scope(), wish.start().url(), commit));
        inputs.addAll(wish.base());
        String clone = "mcp-clone-" + known.name(inputs.stream());
        return wish.start().install().isEmpty()
                ? List.of(clone)
                : List.of(
                        "mcp-install-"
                                + known.name(
                                        Stream.of(VERSION, clone, wish.start().install())),
                        clone);
    }

    /// Makes sure that the newest commit is cloned.
    ///
    /// @return the commit
    private String cloned(Wish wish) {
        String url = wish.start().url();
        wish.progress().accept("looking for the newest commit of " + url);
        var login = tokens.find(wish.key(), wish.team()).orElse(null);
        for (int tries = 1; ; tries++) {
            try (var git = new GitSandbox(open(wish, wish.base()), scripts, url, login)) {
                String commit = git.newest(wish.left());
                var keys = keys(wish, commit);
                if (!areThere(keys)) {
                    wish.progress().accept("cloning " + url);
                    layers.build(keys.getLast(), rootfs -> fill(git, wish, commit, rootfs));
                }
                return commit;
            } catch (CayException e) {
                if (e.kind() != ErrorKind.CONFLICT || tries == TRIES) {
                    throw e;
                }
            }
        }
    }

    private SideSandbox open(Wish wish, List<String> from) {
        return sides.open(
                wish.owner(),
                new SideSandboxHost.Wanted(wish.key(), from, CatalogServer.Network.OPEN, List.of()),
                _ -> {});
    }

    private void fill(GitSandbox git, Wish wish, String commit, Path rootfs) throws IOException {
        ChangedFiles.requireSpace(rootfs);
        if (!git.cloneNewest(wish.left()).equals(commit)) {
            throw new CayException(
                    ErrorKind.CONFLICT,
                    "%s has another commit each time it is asked"
                            .formatted(wish.start().url()));
        }
        ChangedFiles.copy(programs, git.stop(), rootfs);
    }

    /// Runs installCmd in a side sandbox in which the operator's token never was, and without the server's variables,
    /// because its files are kept.
    private void install(Wish wish, String clone, Path rootfs) throws IOException {
        ChangedFiles.requireSpace(rootfs);
        wish.progress().accept("running installCmd");
        try (var side = open(wish, wish.on(Stream.of(clone)))) {
            var ended = scripts.run(side, INSTALL, List.of(wish.start().install()), Map.of(), wish.left());
            var exit = ended.exit();
            if (!ended.isWell()) {
                throw new CayException(
                        ErrorKind.FAILED,
                        "installCmd ended with %s: %s"
                                .formatted(
                                        exit == null
                                                ? "its sandbox"
                                                : exit.bySignal() ? exit.status() : "status " + exit.code(),
                                        LastLines.of(ended.said(), SHOWN)));
            }
            ChangedFiles.copy(programs, side.stop(), rootfs);
        } catch (CayException e) {
            throw e.kind() == ErrorKind.DEADLINE_EXCEEDED
                    ? new CayException(
                            ErrorKind.FAILED,
                            "installCmd did not end within the %d minutes that there are to clone and install"
                                    .formatted(LIMIT.toMinutes()),
                            e)
                    : e;
        }
    }

    /// Records of repositories that were not used for a while.
    ///
    /// @param before records that were used after this moment stay
    public Optional<Unused> unused(Instant before) {
        return known.unused(before);
    }
}
