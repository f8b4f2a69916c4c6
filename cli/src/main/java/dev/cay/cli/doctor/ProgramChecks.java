package dev.cay.cli.doctor;

import dev.cay.cli.local.Root;
import dev.cay.config.CayConfig;
import dev.cay.node.host.Programs;
import dev.cay.node.image.BuildTools;
import dev.cay.node.image.DashboardModules;
import dev.cay.node.image.LayerStore;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;

/// The programs Cay runs, and the one it runs on.
final class ProgramChecks implements Check {
    /// @param needed whether Cay does not start without it; otherwise what is lost
    private record Program(String name, String question, String debian, boolean needed, String lost) {}

    private static final List<Program> PROGRAMS = List.of(
            new Program("runc", "--version", "runc", true, ""),
            new Program("criu", "--version", "criu", false, "a paused sandbox keeps its files but not its memory"),
            new Program("ip", "-V", "iproute2", true, ""),
            new Program("nft", "--version", "nftables", true, ""),
            new Program("iptables", "--version", "iptables", false, "criu cannot save network connections"),
            new Program("mkfs.btrfs", "--version", "btrfs-progs", false, "snapshots are copies, disks have no limit"),
            new Program("mmdebstrap", "--version", "mmdebstrap", true, ""),
            new Program("tar", "--version", "tar", true, ""),
            new Program("gcc", "--version", "gcc", true, ""),
            new Program("make", "--version", "make", true, ""));

    @Override
    public List<Finding> look(CayConfig config, UnaryOperator<String> command) {
        var findings = new ArrayList<Finding>();
        findings.add(Finding.ok("java", String.valueOf(System.getProperty("java.runtime.version"))));
        findings.add(
                Root.here()
                        ? Finding.ok("root", "yes")
                        : Finding.warn("root", "no; some checks see less", "sudo " + command.apply("doctor")));
        PROGRAMS.forEach(program -> findings.add(ask(program)));
        findings.add(checkpoint(
                Probe.run("criu", "--version").map(Probe.Answer::text).orElse(""),
                System.getProperty("os.version", ""),
                System.getProperty("os.arch", "")));
        findings.add(templates(BuildTools.missing(Programs.ofHost())));
        findings.add(dashboard(config.cacheDir()));
        return findings;
    }

    /// Not needed once the base template is in the cache, but wanted again when its recipe changes.
    static Finding templates(Map<String, String> missing) {
        return missing.isEmpty()
                ? Finding.ok("templates", "can be built")
                : Finding.fail(
                        "templates",
                        "cannot be built without " + String.join(", ", missing.keySet()),
                        "sudo " + BuildTools.fix(missing));
    }

    /// Cay works without it, and builds it beside its other work.
    private static Finding dashboard(Path cacheDir) {
        try {
            return new DashboardModules(new LayerStore(cacheDir), Programs.ofHost()).isBuilt()
                    ? Finding.ok("dashboard", "built")
                    : Finding.note(
                            "dashboard", "not built yet: `cay up` does it in the background, from the npm registry");
        } catch (IOException e) {
            return Finding.note("dashboard", "this program was packed without it");
        }
    }

    private static Finding ask(Program program) {
        return Probe.run(program.name(), program.question())
                .map(answer -> Finding.ok(
                        program.name(), answer.text().lines().findFirst().orElse("there")))
                .orElseGet(() -> {
                    String fix = "sudo apt-get install " + program.debian();
                    return program.needed()
                            ? Finding.fail(program.name(), "missing", fix)
                            : Finding.warn(program.name(), "missing: " + program.lost(), fix);
                });
    }

    /// CRIU before 4.2 cannot read the sockets of kernels from 6.16 on; Cay's preloaded shim translates. On x86,
    /// CRIU before 4.1 does not know the clock pages of kernels from 6.13 on either: there the shim helps from 6.17
    /// on, as only then the kernel moves them in one piece.
    static Finding checkpoint(String criu, String kernel, String cpu) {
        var program = Version.in(criu);
        var system = Version.in(kernel);
        if (program.isEmpty() || system.isEmpty()) {
            return Finding.note("checkpoints", "files only: there is no usable criu");
        }
        boolean x86 = cpu.equals("amd64") || cpu.equals("x86_64");
        boolean between = system.get().isAtLeast(6, 13) && !system.get().isAtLeast(6, 17);
        if (x86 && between && !program.get().isAtLeast(4, 1)) {
            return Finding.warn(
                    "checkpoints",
                    "criu %s cannot save processes on kernel %s: only files are kept"
                            .formatted(program.get(), system.get()),
                    "install criu 4.1 or newer, or a kernel from 6.17 on");
        }
        boolean shim = system.get().isAtLeast(6, 16) && !program.get().isAtLeast(4, 2);
        String pair = "criu %s on kernel %s".formatted(program.get(), system.get());
        return shim ? Finding.note("checkpoints", pair + ", with Cay's shim") : Finding.ok("checkpoints", pair);
    }
}
