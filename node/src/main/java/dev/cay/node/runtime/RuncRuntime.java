package dev.cay.node.runtime;

import dev.cay.life.Trees;
import dev.cay.node.host.Mounts;
import dev.cay.node.host.NetworkLimits;
import dev.cay.node.host.ServerLimits;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.SandboxId;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Containers by runc, saved and restored by CRIU.
///
/// Its run directory contains `runc/`, runc's own state, and `bundles/`, a directory per sandbox. A restarted daemon
/// finds everything there; nothing is kept in memory.
public final class RuncRuntime implements ContainerRuntime {
    private static final Logger log = LoggerFactory.getLogger(RuncRuntime.class);
    private static final Duration START_LIMIT = Duration.ofSeconds(30);
    private static final Duration SAVE_LIMIT = Duration.ofMinutes(5);
    private static final Duration END_LIMIT = Duration.ofSeconds(10);

    private static final long SHOWN_STEP = 256 << 10;

    private final GuestProgram guest;
    private final RuncStates states;
    private final Path bundles;
    private final String cgroupParent;
    private final NetworkLimits network;
    private final RuncCalls calls;
    private final Cgroups cgroups = Cgroups.mounted();
    private final SandboxGroups groups;
    private final FillSettings filling;
    private final Map<SandboxId, Shown> shownInside = new ConcurrentHashMap<>();

    /// @param runDir       what does not outlive a reboot; every user must be able to pass through it
    /// @param cgroupParent absolute, like `/cay-main`; see {@link dev.cay.node.host.HostPlan#cgroup}
    /// @param servers      what side sandboxes of one sandbox may use
    /// @param filling      when memory is brought in while a container runs
    public RuncRuntime(
            GuestProgram guest,
            Path runDir,
            String cgroupParent,
            NetworkLimits network,
            ServerLimits servers,
            FillSettings filling) {
        this.guest = guest;
        this.network = network;
        this.states = new RuncStates(runDir.resolve("runc"));
        this.bundles = runDir.resolve("bundles");
        this.cgroupParent = cgroupParent;
        this.calls = new RuncCalls(guest, states.directory());
        this.groups = new SandboxGroups(cgroupParent, cgroups, servers.memoryMB(), this::bundle);
        this.filling = filling;
        groups.order();
    }

    @Override
    public Container start(ContainerSpec spec) {
        var container = launch(spec, guest, calls::start);
        try {
            showBootId(container);
            return container;
        } catch (RuntimeException e) {
            cleanUp(spec.id(), e);
            throw e;
        }
    }

    private void showBootId(Container container) {
        String pid = Integer.toString(container.pid());
        String id = UUID.randomUUID().toString();
        new Command("naming the sandbox's start", END_LIMIT, guest.path().toString(), "boot", pid, id).run();
    }

    @Override
    public Container restore(ContainerSpec spec, Path images, String version) {
        var program = guest.other(version);
        return launch(spec, program, (_, bundle) -> calls.restore(spec, bundle, images.toAbsolutePath(), null));
    }

    @Override
    public boolean fills(Path images) {
        return filling.on() && Files.exists(Filler.DEVICE) && pageBytes(images) >= filling.leastBytes();
    }

    private static long pageBytes(Path images) {
        try (var files = Files.list(images)) {
            return files.filter(file -> file.getFileName().toString().startsWith("pages-"))
                    .mapToLong(file -> file.toFile().length())
                    .sum();
        } catch (IOException e) {
            throw new CayException(ErrorKind.NOT_RESTORED, "cannot list " + images, e);
        }
    }

    @Override
    public Container restoreLazily(ContainerSpec spec, Path images, String version, Optional<Path> first) {
        return launch(spec, guest.other(version), (_, bundle) -> {
            var filler = filler(spec.id());
            try {
                filler.start(guest, spec, images.toAbsolutePath(), first.orElse(null), filling);
            } catch (CayException e) {
                log.atWarn().setCause(e).addKeyValue("sandbox", spec.id()).log("a sandbox is restored with all memory");
                filler.end();
                Files.deleteIfExists(bundle.fillReport());
                calls.restore(spec, bundle, images.toAbsolutePath(), null);
                return;
            }
            calls.restore(spec, bundle, images.toAbsolutePath(), filler);
        });
    }

    @Override
    public Fill fill(SandboxId id) {
        return filler(id).fill();
    }

    private Filler filler(SandboxId id) {
        return new Filler(cgroups, groups.ofFiller(id), bundle(id));
    }

    /// CRIU would save a container without the pages that are missing, and call that a success.
    private void awaitFilled(SandboxId id) {
        long deadline = System.nanoTime() + SAVE_LIMIT.toNanos();
        var filler = filler(id);
        for (Fill fill = requireWhole(filler.fill()); fill.isUnderWay(); ) {
            if (System.nanoTime() > deadline) {
                throw new CayException(
                        ErrorKind.DEADLINE_EXCEEDED,
                        "its memory was not back within %d s".formatted(SAVE_LIMIT.toSeconds()));
            }
            Launcher.pause();
            fill = requireWhole(filler.fill());
        }
    }

    private static Fill requireWhole(Fill fill) {
        if (fill.isLost()) {
            throw new CayException(ErrorKind.INTERNAL, fill.loss());
        }
        return fill;
    }

    @Override
    public void checkpoint(SandboxId id, Path images, After after) {
        awaitFilled(id);
        requireSavable(id);
        calls.checkpoint(id, bundle(id), images.toAbsolutePath(), after);
        if (after == After.END) {
            delete(id);
        }
    }

    @Override
    public void giveUpCheckpoint(SandboxId id) {
        bundle(id).tellDumps(true);
        Launcher.of(bundle(id)).hurry();
    }

    @Override
    public void requireSavable(SandboxId id) {
        var container = require(id);
        FuseMount.refuse(container);
        MovedMounts.refuse(container.pid(), bundle(id).mountedAt());
    }

    @Override
    public Optional<Container> find(SandboxId id) {
        return states.find(id);
    }

    /// Everything that bears a sandbox's name, whichever part of it a crash left.
    @Override
    public List<SandboxId> list() {
        var names = Stream.of(names(bundles), names(states.directory()), groups.names())
                .flatMap(List::stream)
                .distinct();
        return SandboxId.among(names);
    }

    private static List<String> names(Path directory) {
        try (var entries = Files.list(directory)) {
            return entries.map(entry -> entry.getFileName().toString()).toList();
        } catch (NoSuchFileException e) {
            return List.of();
        } catch (IOException e) {
            throw new CayException(ErrorKind.INTERNAL, "cannot list " + directory, e);
        }
    }

    @Override
    public String guest(SandboxId id) {
        try {
            return bundle(id).guest();
        } catch (IOException e) {
            throw RuncStates.unreadable(bundle(id).directory(), e);
        }
    }

    @Override
    public void settle(SandboxId id) {
        Launcher.of(bundle(id)).await(SAVE_LIMIT);
        long deadline = System.nanoTime() + SAVE_LIMIT.toNanos();
        while (find(id).filter(Container::isTraced).isPresent() && System.nanoTime() < deadline) {
            Launcher.pause();
        }
    }

    @Override
    public Optional<Container> goOn(SandboxId id) {
        var container = mend(id);
        thaw(id);
        return container;
    }

    @Override
    public Optional<Container> stay(SandboxId id) {
        var container = mend(id);
        if (container.isPresent()) {
            // A killed CRIU may have thawed it.
            freeze(id);
        }
        return container;
    }

    private Optional<Container> mend(SandboxId id) {
        settle(id);
        bundle(id).tellDumps(false);
        var container = find(id);
        container.ifPresent(found -> new CutDump(found).clear(guest.path(), pids(id)));
        return container;
    }

    private String pids(SandboxId id) {
        return cgroups.members(groups.of(id)).stream().map(pid -> pid + "\n").collect(Collectors.joining());
    }

    /// Which unpacked guests some sandbox was started with.
    public Set<String> guestsInUse() {
        var used = new HashSet<String>();
        for (String name : names(bundles)) {
            try {
                used.add(new Bundle(bundles.resolve(name)).guest());
            } catch (NoSuchFileException halfMade) {
                // Or just gone; a sandbox that runs has one.
            } catch (IOException e) {
                throw RuncStates.unreadable(bundles.resolve(name), e);
            }
        }
        return used;
    }

    @Override
    public void kill(SandboxId id) {
        groups.kill(id);
    }

    /// Does itself what `runc delete` would do, which polls, and which refuses half made containers.
    @Override
    public void delete(SandboxId id) {
        Bundle bundle = bundle(id);
        Launcher.of(bundle).end();
        kill(id);
        filler(id).end();
        groups.remove(id);
        unplug(bundle);
        removeTree(states.of(id));
        Mounts.unmountBelow(bundle.directory());
        removeTree(bundle.directory());
        shownInside.remove(id);
        groups.forget(id);
    }

    /// The link goes with its namespace, but later, and not while the node has a socket there.
    private void unplug(Bundle bundle) {
        try {
            String link = Files.readString(bundle.linkName());
            new Command("removing the sandbox's link", END_LIMIT, guest.path().toString(), "unplug", link).run();
        } catch (NoSuchFileException e) {
            // It never got that far.
        } catch (IOException e) {
            throw new CayException(ErrorKind.INTERNAL, "cannot read " + bundle.linkName(), e);
        }
    }

    /// Ends every process below a parent of cgroups and removes them all, without knowing anything of sandboxes.
    public static void endAll(String cgroupParent) {
        var cgroups = Cgroups.mounted();
        for (String child : cgroups.children(cgroupParent)) {
            cgroups.kill(cgroupParent + "/" + child, END_LIMIT);
            cgroups.remove(cgroupParent + "/" + child, END_LIMIT);
        }
        cgroups.remove(cgroupParent, END_LIMIT);
    }

    /// Takes the last traces off the host; for when no sandbox is left.
    public void clear() {
        cgroups.remove(cgroupParent, END_LIMIT);
    }

    @Override
    public void freeze(SandboxId id) {
        cgroups.freeze(groups.of(id));
    }

    @Override
    public void allowSwap(SandboxId id) {
        groups.allowSwap(id, true);
    }

    @Override
    public void pushOut(SandboxId id) {
        groups.pushOut(id);
    }

    @Override
    public void thaw(SandboxId id) {
        requireWhole(filler(id).fill());
        bundle(id).tellDumps(false);
        groups.allowSwap(id, false);
        cgroups.thaw(groups.of(id));
    }

    @Override
    public Usage usage(Container container) {
        Usage usage = cgroups.usage(groups.of(container.id()), groups.charged(container.id()));
        var shown = new Shown(container.pid(), usage.memory() / SHOWN_STEP, usage.cache() / SHOWN_STEP);
        if (shown.equals(shownInside.put(container.id(), shown))) {
            return usage;
        }
        try {
            bundle(container.id()).procFiles().update(usage);
        } catch (IOException e) {
            throw new CayException(ErrorKind.INTERNAL, "cannot show the sandbox its memory", e);
        }
        return usage;
    }

    @Override
    public long memoryKills(SandboxId id) {
        return cgroups.memoryKills(groups.of(id));
    }

    @Override
    public Map<String, Long> serverMemoryKills(SandboxId owner) {
        return groups.serverKills(owner);
    }

    /// The memory sizes that a container was shown last. Most containers are idle, and need no update.
    private record Shown(int pid, long memory, long cache) {}

    /// The runc command for an existing bundle.
    private interface Call {
        void on(ContainerSpec spec, Bundle bundle) throws IOException;
    }

    private Container launch(ContainerSpec spec, GuestProgram program, Call call) {
        Bundle bundle = bundle(spec.id());
        if (Files.exists(bundle.directory())) {
            throw new CayException(ErrorKind.CONFLICT, "sandbox %s exists already".formatted(spec.id()));
        }
        try {
            makePlaces();
            try (var place = groups.enter(spec)) {
                var config = new ContainerConfig(bundle, spec, program, network, place.group(), cgroups);
                bundle.write(spec, config.json());
                call.on(spec, bundle);
            }
            Container container = require(spec.id());
            awaitGuest(container);
            return container;
        } catch (IOException e) {
            cleanUp(spec.id(), e);
            throw new CayException(ErrorKind.INTERNAL, "cannot write the sandbox's bundle", e);
        } catch (RuntimeException e) {
            cleanUp(spec.id(), e);
            throw e;
        }
    }

    private Container require(SandboxId id) {
        return find(id).orElseThrow(
                        () -> new CayException(ErrorKind.NOT_FOUND, "sandbox %s does not run".formatted(id)));
    }

    /// The guest has started to listen when its address is in the namespace's list.
    private static void awaitGuest(Container container) {
        Path sockets = Path.of("/proc", Integer.toString(container.pid()), "net", "unix");
        long deadline = System.nanoTime() + START_LIMIT.toNanos();
        try {
            while (!Files.readString(sockets).contains(" @cay\n")) {
                if (System.nanoTime() > deadline) {
                    throw new CayException(ErrorKind.INTERNAL, "the sandbox's guest does not listen");
                }
                Thread.sleep(Duration.ofMillis(1));
            }
        } catch (IOException e) {
            throw new CayException(ErrorKind.INTERNAL, "the sandbox's guest ended at once", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CayException(ErrorKind.CANCELED, "interrupted while the sandbox's guest started", e);
        }
    }

    private void cleanUp(SandboxId id, Exception failure) {
        try {
            delete(id);
        } catch (CayException e) {
            failure.addSuppressed(e);
        }
    }

    private void makePlaces() throws IOException {
        Bundle.makePassable(states.directory());
        Bundle.makePassable(bundles);
    }

    private Bundle bundle(SandboxId id) {
        return new Bundle(bundles.resolve(id.value()));
    }

    private static void removeTree(Path directory) {
        try {
            Trees.delete(directory);
        } catch (IOException e) {
            throw new CayException(ErrorKind.INTERNAL, "cannot remove " + directory, e);
        }
    }
}
