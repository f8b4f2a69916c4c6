package dev.cay.prove.escape;

import dev.cay.life.Undo;
import dev.cay.node.host.HostLedger;
import dev.cay.node.host.HostPlan;
import dev.cay.node.host.NetworkLimits;
import dev.cay.node.host.Programs;
import dev.cay.node.host.Reservation;
import dev.cay.node.host.Slot;
import dev.cay.node.network.Firewall;
import dev.cay.testing.ProbeFile;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/// A host in a network namespace, with a private network and a metadata service behind it, and two sandboxes on it:
/// bundles as the node writes them, connected by the real hook, judged by the real firewall. What a host has by chance
/// is here on purpose, so that only the guards keep a sandbox from it.
final class ReachLab implements AutoCloseable {
    private static final Duration LIMIT = Duration.ofSeconds(30);
    private static final String LAN = "192.168.78.2";
    private static final int PORT = 80;
    private static final JsonMapper JSON = JsonMapper.shared();

    /// @param heard whom the packets came from that reached the host's name server
    record Result(List<Attempt> attempts, List<String> heard) {}

    private final Undo closing = new Undo();
    private final Reservation place;
    private final String name;
    private final HostPlan plan;
    private final Programs host;
    private final Firewall firewall;
    private final ObjectNode bundle;
    private final OutsideWorld world;
    private final Slot attacker;
    private final Slot neighbour;

    ReachLab(Path config, OutsideWorld world) throws IOException {
        this.bundle = (ObjectNode) JSON.readTree(Files.readString(config));
        this.world = world;
        this.place = HostLedger.ofHost().reserve(Files.createTempDirectory(world.directory(), "reach-"), 24);
        closing.step(() -> HostLedger.ofHost().release(place));
        this.name = "cay" + place.instance() + "-h";
        this.plan = place.plan();
        this.host = new Programs(List.of("nsenter", "--net=/run/netns/" + name));
        this.firewall = new Firewall(plan, NetworkLimits.DEFAULT, host);
        this.attacker = plan.take();
        this.neighbour = plan.take();
        try {
            build();
        } catch (IOException | RuntimeException e) {
            closing.close();
            throw e;
        }
    }

    private void build() throws IOException {
        String lan = name + "l";
        for (String namespace : List.of(name, lan)) {
            ip("netns add " + namespace);
            closing.step(() -> ip("netns delete " + namespace));
            ip("-n %s link set lo up".formatted(namespace));
        }
        ip("-n %s link add lan0 type veth peer name eth0 netns %s".formatted(name, lan));
        ip("-n %s addr add 192.168.78.1/24 dev lan0".formatted(name));
        ip("-n %s addr add 2001:db8:77::1/64 dev lan0 nodad".formatted(name));
        ip("-n %s addr add fd00:ec2::254/128 dev lan0 nodad".formatted(name));
        ip("-n %s link set lan0 up".formatted(name));
        ip("-n %s addr add %s/24 dev eth0".formatted(lan, LAN));
        ip("-n %s addr add 169.254.169.254/32 dev lo".formatted(lan));
        ip("-n %s link set eth0 up".formatted(lan));
        ip("-n %s route add default via 192.168.78.1".formatted(lan));
        ip("-n %s route add 169.254.169.254/32 via %s".formatted(name, LAN));
        host.require(LIMIT, "sysctl", "-qw", "net.ipv4.ip_forward=1", "net.ipv6.conf.all.forwarding=1");
        serve(host);
        serve(new Programs(List.of("nsenter", "--net=/run/netns/" + lan)));
    }

    private void serve(Programs where) throws IOException {
        closing.add(partner(where, world.program().toString(), "serve", Integer.toString(PORT), "lab"));
    }

    private static Partner partner(Programs where, String... words) throws IOException {
        var command = new ArrayList<>(where.prefix());
        command.addAll(List.of(words));
        return new Partner(command);
    }

    private static void ip(String words) {
        var command = new ArrayList<>(List.of("ip"));
        command.addAll(List.of(words.split(" ")));
        Programs.ofHost().require(LIMIT, "", command);
    }

    /// Makes the attempts, in a sandbox that lacks the guards.
    Result attack(Set<Guard> removed, List<Probe> probes) throws IOException, InterruptedException {
        try (var undo = new Undo()) {
            if (!removed.contains(Guard.FIREWALL)) {
                firewall.load();
                undo.step(firewall::remove);
            }
            var names = undo.add(partner(host, world.program().toString(), "names", "0.0.0.0", "53", LAN));
            var served = directory(undo);
            write(served, neighbour, removed, List.of("/" + ProbeFile.NAME, "serve", Integer.toString(PORT), "x"));
            undo.add(new Partner(runc(served, undo)));
            var directory = directory(undo);
            write(directory, attacker, removed, command(probes));
            var process = new ProcessBuilder(runc(directory, undo))
                    .redirectErrorStream(true)
                    .start();
            undo.step(process::destroyForcibly);
            if (removed.contains(Guard.LINK)) {
                loosenLink(awaitPid(directory.resolve("pid"), process));
            }
            try (var in = process.getOutputStream()) {
                in.write('\n');
            }
            String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            return new Result(Attempt.parse(output), names.lines());
        }
    }

    private List<String> command(List<Probe> probes) throws IOException {
        var command = new ArrayList<>(List.of("/" + ProbeFile.NAME, "hold=until-told"));
        String gateway = plan.gateway();
        command.add("host=%s:%d,192.168.78.1:%d".formatted(gateway, PORT, PORT));
        command.add("sandbox=%s:%d".formatted(neighbour.address(), PORT));
        command.add("private=%s:%d".formatted(LAN, PORT));
        command.add("six=2001:db8:77::1:" + PORT);
        command.add("resolver=" + gateway);
        command.add("name=rebound.example");
        command.add("port=" + PORT);
        command.add("forged=%s:%s:53:%s".formatted(neighbour.address(), gateway, gateway));
        probes.forEach(probe -> command.add(probe.name()));
        return command;
    }

    private Path directory(Undo undo) throws IOException {
        Path directory = Files.createTempDirectory(world.directory(), "lab-");
        undo.step(() -> OutsideWorld.deleteTree(directory));
        Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwxr-xr-x"));
        return directory;
    }

    private void write(Path directory, Slot slot, Set<Guard> removed, List<String> command) throws IOException {
        Path root = directory.resolve("rootfs");
        for (String place : List.of("proc", "sys", "dev", "tmp", "run")) {
            Files.createDirectories(root.resolve(place));
        }
        Files.copy(world.program(), root.resolve(ProbeFile.NAME), StandardCopyOption.COPY_ATTRIBUTES);
        var copy = bundle.deepCopy();
        var edit = new BundleEdit(copy, root, name + "-" + directory.getFileName(), world);
        long owner = edit.owner(removed);
        Programs.ofHost().require(LIMIT, "chown", "-R", owner + ":" + owner, root.toString());
        rewire((ArrayNode) copy.path("hooks").path("createRuntime").path(0).path("args"), slot);
        JSON.writeValue(directory.resolve("config.json").toFile(), edit.withHook(removed, command));
    }

    private static void rewire(ArrayNode arguments, Slot slot) {
        for (int i = 0; i + 1 < arguments.size(); i++) {
            switch (arguments.path(i).asString()) {
                case "--veth" -> arguments.set(i + 1, slot.veth());
                case "--address" -> arguments.set(i + 1, slot.address());
                case "--gateway" -> arguments.set(i + 1, slot.gateway());
                default -> {}
            }
        }
    }

    private List<String> runc(Path directory, Undo undo) {
        String id = name + "-" + directory.getFileName();
        String state = directory.resolve("state").toString();
        undo.step(() -> Programs.ofHost().run(LIMIT, "runc", "--root", state, "delete", "--force", id));
        var command = new ArrayList<>(host.prefix());
        command.addAll(List.of("runc", "--root", state, "run", "--bundle", directory.toString()));
        command.addAll(List.of("--pid-file", directory.resolve("pid").toString(), id));
        return command;
    }

    private static String awaitPid(Path file, Process process) throws IOException, InterruptedException {
        long end = System.nanoTime() + LIMIT.toNanos();
        while (!Files.exists(file) || Files.size(file) == 0) {
            if (process.waitFor(5, TimeUnit.MILLISECONDS) || System.nanoTime() > end) {
                throw new IOException("the lab's sandbox did not start");
            }
        }
        return Files.readString(file).strip();
    }

    /// IPv6 on both sides, and any source address.
    private void loosenLink(String pid) {
        String veth = attacker.veth();
        host.require(
                LIMIT,
                "sysctl",
                "-qw",
                "net.ipv4.conf.all.rp_filter=0",
                "net.ipv4.conf.%s.rp_filter=0".formatted(veth),
                "net.ipv6.conf.%s.disable_ipv6=0".formatted(veth));
        ip("-n %s addr add fd77::1/64 dev %s nodad".formatted(name, veth));
        var inside = new Programs(List.of("nsenter", "-t", pid, "-n"));
        inside.require(LIMIT, "sysctl", "-qw", "net.ipv6.conf.eth0.disable_ipv6=0");
        inside.require(LIMIT, "ip", "addr", "add", "fd77::2/64", "dev", "eth0", "nodad");
        inside.require(LIMIT, "ip", "-6", "route", "add", "default", "via", "fd77::1");
    }

    /// Whom a forged packet would seem to come from.
    String forged() {
        return "from " + neighbour.address();
    }

    String honest() {
        return "from " + attacker.address();
    }

    @Override
    public void close() {
        closing.close();
    }
}
