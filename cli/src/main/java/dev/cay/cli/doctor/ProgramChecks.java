package dev.cay.cli.doctor;

import dev.cay.cli.Root;
import dev.cay.config.CayConfig;
import java.util.ArrayList;
import java.util.List;

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
    public List<Finding> look(CayConfig config) {
        var findings = new ArrayList<Finding>();
        findings.add(Finding.ok("java", String.valueOf(System.getProperty("java.runtime.version"))));
        findings.add(
                Root.here()
                        ? Finding.ok("root", "yes")
                        : Finding.warn("root", "no; some checks see less", "sudo ./cay doctor"));
        PROGRAMS.forEach(program -> findings.add(ask(program)));
        findings.add(checkpoint(
                Probe.run("criu", "--version").map(Probe.Answer::text).orElse(""),
                System.getProperty("os.version", "")));
        return findings;
    }

    private static Finding ask(Program program) {
        return Probe.run(program.name(), program.question())
                .map(answer -> Finding.ok(
                        program.name(), answer.text().lines().findFirst().orElse("there")))
                .orElseGet(() -> {
                    String mend = "sudo apt-get install " + program.debian();
                    return program.needed()
                            ? Finding.fail(program.name(), "missing", mend)
                            : Finding.warn(program.name(), "missing: " + program.lost(), mend);
                });
    }

    /// CRIU before 4.2 cannot read the sockets of kernels from 6.16 on; Cay's preloaded shim translates.
    static Finding checkpoint(String criu, String kernel) {
        var program = Version.in(criu);
        var system = Version.in(kernel);
        if (program.isEmpty() || system.isEmpty()) {
            return Finding.note("checkpoints", "files only: there is no usable criu");
        }
        boolean shim = system.get().isAtLeast(6, 16) && !program.get().isAtLeast(4, 2);
        String pair = "criu %s on kernel %s".formatted(program.get(), system.get());
        return shim ? Finding.note("checkpoints", pair + ", with Cay's shim") : Finding.ok("checkpoints", pair);
    }
}
