package dev.cay.prove.escape;

import dev.cay.node.host.Programs;
import dev.cay.platform.RemoteSandbox;
import dev.cay.testing.ProbeFile;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import tools.jackson.databind.json.JsonMapper;

/// Makes all attempts with all controls, on a daemon of its own.
public final class Siege {
    private static final Duration LIMIT = Duration.ofMinutes(1);

    /// @param lines a table in Markdown and what else was seen
    public record Report(boolean holds, String summary, List<String> lines) {}

    private final URI url;
    private final String key;
    private final Path stateDir;
    private final int edge;
    private final Path runDir;
    private final Consumer<String> progress;
    private final Map<Probe, Attempt> attempts = new LinkedHashMap<>();
    private final Map<Probe, Attempt> controls = new LinkedHashMap<>();
    private final List<String> failures = new ArrayList<>();
    private final List<String> notes = new ArrayList<>();

    /// @param url      plain HTTP base of the daemon
    /// @param edge     its TLS port
    /// @param stateDir of that daemon: another user of the host tries to read it
    /// @param runDir   of that daemon: controls are made of its bundles
    public Siege(URI url, String key, int edge, Path stateDir, Path runDir, Consumer<String> progress) {
        this.url = url;
        this.key = key;
        this.edge = edge;
        this.stateDir = stateDir;
        this.runDir = runDir;
        this.progress = progress;
    }

    public Report lay() throws IOException, InterruptedException {
        try (var world = OutsideWorld.make();
                var besieged = new AttackedDaemon(url, key, world)) {
            progress.accept("%d attempts from inside".formatted(Probes.inside().size()));
            besieged.attack().forEach(attempt -> attempts.put(attempt.probe(), attempt));
            Path config =
                    runDir.resolve("bundles").resolve(besieged.attacker().id()).resolve("config.json");
            controlByBundles(config, world);
            controlByHand(besieged.attacker().id(), world);
            controlInLab(config, world);
            race(besieged.attacker(), world);
            readAsHostUser(world);
            progress.accept("pipes and terminals that are made to block");
            notes.addAll(new StalledNode(url, key, world.program()).check(failures));
            progress.accept("the edge inside a sandbox without internet access");
            notes.addAll(new EdgeVisits(url, key, edge).check(failures));
            progress.accept("MCP servers that take more memory than all of a sandbox may have");
            notes.addAll(new ServerHogs(url, key).check(failures));
            require(!besieged.sharesChanges(), "a change of a template's file was seen by another sandbox");
            notes.add(
                    "Layers: a program of the template, overwritten and made setuid inside, is unchanged for the neighbour.");
        }
        return report();
    }

    /// Probes that lack the same guards share a container.
    private void controlByBundles(Path config, OutsideWorld world) throws IOException {
        var weak = new WeakSandbox(config, world);
        var groups = Probes.all().stream()
                .filter(probe -> !probe.inLab() && !byHand(probe))
                .collect(Collectors.groupingBy(Probe::guards, LinkedHashMap::new, Collectors.toList()));
        for (var group : groups.entrySet()) {
            progress.accept("without "
                    + group.getKey().stream().sorted().map(Guard::words).collect(Collectors.joining(", ")));
            weak.attack(group.getKey(), group.getValue()).forEach(attempt -> controls.put(attempt.probe(), attempt));
        }
    }

    private static boolean byHand(Probe probe) {
        return Set.of("guest-socket", "chroot-climb").contains(probe.name())
                || probe.guards().contains(Guard.KERNEL);
    }

    /// The guest hears whoever is outside its pid namespace; a root by chroot alone can be left.
    private void controlByHand(String sandbox, OutsideWorld world) throws IOException {
        progress.accept("as the node, and by chroot");
        Path state = runDir.resolve("runc").resolve(sandbox).resolve("state.json");
        String pid = JsonMapper.shared()
                .readTree(Files.readString(state))
                .path("init_process_pid")
                .asString();
        control(Programs.ofHost()
                .run(LIMIT, "nsenter", "-t", pid, "-n", world.program().toString(), "guest-socket"));
        Path root = Files.createDirectories(world.directory().resolve("chroot"));
        ProbeFile.unpack(root);
        var command = new ArrayList<>(List.of("chroot", root.toString(), "/" + ProbeFile.NAME));
        command.addAll(world.facts());
        command.add("chroot-climb");
        control(Programs.ofHost().run(LIMIT, "", command));
    }

    private void control(Programs.Result result) {
        Attempt.parse(result.output()).forEach(attempt -> controls.put(attempt.probe(), attempt));
    }

    private void controlInLab(Path config, OutsideWorld world) throws IOException, InterruptedException {
        var probes = Probes.all().stream().filter(Probe::inLab).toList();
        try (var lab = new ReachLab(config, world)) {
            progress.accept("a host in a network namespace, with the firewall");
            var guarded = lab.attack(Set.of(), probes).attempts();
            require(guarded.size() == probes.size(), "the lab's sandbox said " + guarded);
            guarded.forEach(this::noteGuarded);
            progress.accept("the same with packet sockets: the firewall alone against forged packets");
            var sent = lab.attack(Set.of(Guard.FILTER), names("forged-source", "rebound-name"));
            boolean stopped =
                    !sent.heard().contains(lab.forged()) && sent.heard().contains(lab.honest());
            require(stopped, "the firewall let a forged packet through: " + sent);
            progress.accept("the same host without firewall");
            var free = lab.attack(Set.of(Guard.FILTER, Guard.FIREWALL, Guard.LINK), probes);
            free.attempts().forEach(attempt -> controls.put(attempt.probe(), attempt));
            require(free.heard().contains(lab.forged()), "a forged packet did not arrive without guards: " + free);
        }
    }

    private static List<Probe> names(String... names) {
        return Stream.of(names).map(Probes::named).toList();
    }

    private void noteGuarded(Attempt attempt) {
        attempts.putIfAbsent(attempt.probe(), attempt);
        require(attempt.outcome() == Attempt.Outcome.REFUSED, "in the lab: " + attempt);
    }

    private void race(RemoteSandbox sandbox, OutsideWorld world) throws IOException, InterruptedException {
        progress.accept("races against the node's file access");
        var races = new FileRaces(world);
        var result = races.run(sandbox);
        failures.addAll(result.leaks());
        require(result.inside() > 0 && result.outside() > 0, "the race met one side only: " + result);
        require(races.control(), "the race's control did not read the host's file");
        notes.add(
                "Files: in %d rounds the node met the directory %d times and the link %d times, and never the host's file; by path names the same race reads it."
                        .formatted(result.inside() + result.outside(), result.inside(), result.outside()));
        progress.accept("files that would hold a thread");
        notes.addAll(new AwkwardFiles(sandbox).check(failures));
        progress.accept("another user at the MCP gateway's control port");
        notes.addAll(new GatewayTakeover(sandbox).check(failures));
    }

    private void readAsHostUser(OutsideWorld world) throws IOException {
        progress.accept("another user of the host reads the state directory");
        var read = HostUser.reads(stateDir);
        require(read.isEmpty(), "another user of the host reads " + read);
        require(
                HostUser.readsUsualFiles(world.directory()),
                "the control of another user of the host read no file that everybody may read");
        notes.add(
                "Host users: one who knows every name below the state directory reads nothing there but the CA certificate and the guest program; with usual permissions the same attempt reads a sandbox's notes.");
    }

    /// A guard whose removal lets nothing through was not removed, and what its controls say is worth nothing.
    private void requireEachGuardRemoved() {
        var let = controls.values().stream()
                .filter(control -> control.outcome() == Attempt.Outcome.SUCCEEDED)
                .flatMap(control -> control.probe().guards().stream())
                .collect(Collectors.toSet());
        Probes.all().stream()
                .flatMap(probe -> probe.guards().stream())
                .distinct()
                .filter(guard -> guard != Guard.KERNEL)
                .forEach(guard -> require(let.contains(guard), "no control succeeded without " + guard));
    }

    private void require(boolean condition, String failure) {
        if (!condition) {
            failures.add(failure);
        }
    }

    private Report report() {
        var lines = new ArrayList<>(
                List.of("| attempt | in a sandbox | what stops it | without that |", "|---|---|---|---|"));
        int absent = 0;
        int controlled = 0;
        int refused = 0;
        for (var probe : Probes.all()) {
            var attempt = attempts.getOrDefault(probe, Attempt.failed(probe, "was not tried"));
            require(attempt.outcome() == Attempt.Outcome.REFUSED, "%s: %s".formatted(probe.name(), attempt.detail()));
            var control = controls.getOrDefault(probe, Attempt.failed(probe, "was not tried"));
            boolean impossible = probe.guards().contains(Guard.KERNEL) || control.absent();
            boolean worked = control.outcome() == Attempt.Outcome.SUCCEEDED;
            require(worked || impossible, "control of %s: %s".formatted(probe.name(), control));
            refused += attempt.outcome() == Attempt.Outcome.REFUSED ? 1 : 0;
            absent += impossible ? 1 : 0;
            controlled += worked ? 1 : 0;
            lines.add("| %s: %s | %s | %s | %s |"
                    .formatted(
                            probe.name(),
                            probe.attempt(),
                            attempt.detail(),
                            probe.protection(),
                            worked ? control.detail() : "cannot be shown here"));
        }
        requireEachGuardRemoved();
        lines.addAll(notes);
        failures.stream().sorted(Comparator.naturalOrder()).forEach(failure -> lines.add("FAILED: " + failure));
        String summary =
                "%d attempts refused, %d of them succeed without their guards, %d cannot be shown on this kernel"
                        .formatted(refused, controlled, absent);
        return new Report(
                failures.isEmpty(), failures.isEmpty() ? summary : failures.size() + " failures: " + failures, lines);
    }
}
