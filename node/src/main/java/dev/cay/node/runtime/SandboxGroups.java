package dev.cay.node.runtime;

import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.SandboxId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.stream.Stream;

/// The cgroups of sandboxes. Everything that runs for a sandbox is charged to the group with its name. Thread-safe.
///
/// ```
///   /cay-0/ID                limits of the sandbox and of its side sandboxes together
///   /cay-0/ID/_own           the sandbox
///   /cay-0/ID/_servers       limits of all its side sandboxes together
///   /cay-0/ID/_servers/SIDE  a side sandbox
///   /cay-0/_fill/ID          what brings the memory of the sandbox in
/// ```
///
/// Processes are in the lowest groups only, as cgroups version 2 requires. Sandboxes that an older Cay started have all
/// their processes in `/cay-0/ID` until they end; their side sandboxes are in `/cay-0/ID_servers`.
///
/// No id of a sandbox contains a `_`.
final class SandboxGroups {
    private static final String OWN = "/_own";
    private static final String SERVERS = "_servers";
    private static final String FILLERS = "_fill";
    private static final Duration LIMIT = Duration.ofSeconds(10);

    /// A sandbox that starts does what a client waits for, and nothing of the client's runs in it yet. Among
    /// twenty that compute it gets nearly half of their time instead of a twentieth.
    private static final int STARTING = 16;

    private static final int USUAL = 1;

    /// The weight of all sandboxes together, compared with the daemon and other programs of the host. Without it,
    /// sandboxes that fork without pause would make each command of the host, and each start of the daemon, take
    /// half a minute.
    private static final double BEHIND = 1.0 / 8;

    private final String parent;
    private final Cgroups cgroups;
    private final int serversMB;
    private final Function<SandboxId, Bundle> bundles;
    private final Map<SandboxId, String> known = new ConcurrentHashMap<>();

    /// The number of containers that are being started in the group of a sandbox, which is not removed meanwhile: runc
    /// would make it again, without limits.
    private final Map<SandboxId, Integer> starting = new ConcurrentHashMap<>();

    /// @param parent    of them all, like `/cay-0`
    /// @param serversMB memory of all side sandboxes of one sandbox together
    SandboxGroups(String parent, Cgroups cgroups, int serversMB, Function<SandboxId, Bundle> bundles) {
        this.parent = parent;
        this.cgroups = cgroups;
        this.serversMB = serversMB;
        this.bundles = bundles;
    }

    /// The group for a container that is being started; its parents stay until this is closed.
    final class Place implements AutoCloseable {
        private final SandboxId owner;
        private final String group;

        private Place(SandboxId owner, String group) {
            this.owner = owner;
            this.group = group;
        }

        String group() {
            return group;
        }

        @Override
        public void close() {
            cgroups.weigh(around(owner), USUAL);
            starting.computeIfPresent(owner, (_, count) -> count == 1 ? null : count - 1);
        }
    }

    /// Puts all sandboxes together behind the daemon, and none before another: one that was being started when a daemon
    /// was killed still goes before the others.
    void order() {
        if (cgroups.exists(parent)) {
            cgroups.weigh(parent, BEHIND);
            cgroups.children(parent).forEach(name -> cgroups.weigh(parent + "/" + name, USUAL));
        }
    }

    /// Makes and limits the parent groups of a container. runc makes the group itself.
    Place enter(ContainerSpec spec) {
        var owner = spec.owner();
        return owner == null ? enterOwn(spec) : enterServers(spec, owner);
    }

    private Place enterOwn(ContainerSpec spec) {
        var limits = GroupLimits.of(spec.resources(), spec.maxProcesses()).and(serversMB, spec.maxProcesses());
        keep(spec.id(), () -> {
            cgroups.make(around(spec.id()), limits);
            cgroups.weigh(parent, BEHIND);
            cgroups.weigh(around(spec.id()), STARTING);
        });
        return place(spec, spec.id(), around(spec.id()) + OWN);
    }

    /// Makes the parent groups of a side sandbox. Fails without the group of its owner, whose limits apply to it too.
    private Place enterServers(ContainerSpec spec, SandboxId owner) {
        String own = of(owner);
        String servers = own.equals(around(owner)) ? own + SERVERS : around(owner) + "/" + SERVERS;
        keep(owner, () -> {
            if (!cgroups.exists(own)) {
                throw new CayException(ErrorKind.UNAVAILABLE, "sandbox %s does not run now".formatted(owner));
            }
            cgroups.make(servers, GroupLimits.of(spec.resources(), spec.maxProcesses()));
        });
        return place(spec, owner, servers + "/" + spec.id().value());
    }

    private Place place(ContainerSpec spec, SandboxId owner, String group) {
        known.put(spec.id(), group);
        return new Place(owner, group);
    }

    private void keep(SandboxId owner, Runnable make) {
        starting.compute(owner, (_, count) -> {
            make.run();
            return count == null ? 1 : count + 1;
        });
    }

    /// Whether memory of a sandbox may be written to the swap from now on.
    void allowSwap(SandboxId id, boolean may) {
        cgroups.allowSwap(around(id), may);
        cgroups.allowSwap(of(id), may);
    }

    /// Has the kernel write the memory of a sandbox to the swap, as far as it may. Takes seconds.
    void pushOut(SandboxId id) {
        cgroups.pushOut(of(id));
    }

    /// The group of a container's processes: where it was started, or where one of that name is found.
    String of(SandboxId id) {
        String before = known.get(id);
        if (before != null) {
            return before;
        }
        var noted = bundles.apply(id).cgroup().filter(group -> group.startsWith(parent + "/"));
        noted.ifPresent(group -> known.put(id, group));
        return noted.orElseGet(() -> find(id));
    }

    /// The group of what brings the memory of a container in. The container's own may be frozen meanwhile, and what
    /// runs in it must not keep its filler from running.
    String ofFiller(SandboxId id) {
        return parent + "/" + FILLERS + "/" + id.value();
    }

    private String find(SandboxId id) {
        for (String servers : allServers()) {
            if (cgroups.exists(servers + "/" + id.value())) {
                return servers + "/" + id.value();
            }
        }
        String around = around(id);
        boolean flat = cgroups.exists(around) && cgroups.children(around).isEmpty();
        return flat ? around : around + OWN;
    }

    /// The group whose processor time counts for a sandbox, which includes its side sandboxes.
    String charged(SandboxId id) {
        String group = of(id);
        return group.equals(around(id) + OWN) ? around(id) : group;
    }

    /// The number of processes of each side sandbox that the kernel has killed for lack of memory, by name.
    Map<String, Long> serverKills(SandboxId owner) {
        var kills = new HashMap<String, Long>();
        for (String servers : List.of(around(owner) + "/" + SERVERS, around(owner) + SERVERS)) {
            cgroups.children(servers).forEach(name -> kills.put(name, cgroups.memoryKills(servers + "/" + name)));
        }
        return kills;
    }

    /// Names of all groups that may belong to sandboxes.
    List<String> names() {
        var names = new ArrayList<>(cgroups.children(parent));
        names.addAll(cgroups.children(parent + "/" + FILLERS));
        allServers().forEach(servers -> names.addAll(cgroups.children(servers)));
        return names;
    }

    private List<String> allServers() {
        return cgroups.children(parent).stream()
                .map(name -> parent + "/" + (name.endsWith(SERVERS) ? name : name + "/" + SERVERS))
                .toList();
    }

    /// Ends what runs in the group of a container, and nothing else that is charged to the same sandbox.
    void kill(SandboxId id) {
        cgroups.kill(of(id), LIMIT);
    }

    /// Removes the group of an ended container, and its parents unless others use them.
    void remove(SandboxId id) {
        String group = of(id);
        cgroups.remove(group, LIMIT);
        String name = group.substring(parent.length() + 1).split("/")[0];
        SandboxId.among(Stream.of(name.replace(SERVERS, ""))).forEach(this::removeAround);
    }

    /// Forgets where a container's group is. Call this after its bundle is removed, because the next container of that
    /// name may be elsewhere.
    void forget(SandboxId id) {
        known.remove(id);
    }

    private void removeAround(SandboxId owner) {
        starting.compute(owner, (_, count) -> {
            if (count == null) {
                removeIfEmpty(around(owner) + "/" + SERVERS);
                removeIfEmpty(around(owner) + SERVERS);
                removeIfEmpty(around(owner));
            }
            return count;
        });
    }

    /// Removes a group unless it has processes; one of an older version has them while it runs.
    private void removeIfEmpty(String group) {
        if (cgroups.children(group).isEmpty() && cgroups.members(group).isEmpty()) {
            cgroups.remove(group, LIMIT);
        }
    }

    private String around(SandboxId owner) {
        return parent + "/" + owner.value();
    }
}
