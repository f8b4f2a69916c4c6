package dev.cay.cli.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.cli.doctor.Finding.Level;
import dev.cay.node.host.HostRoutes;
import dev.cay.node.network.ForeignFirewalls.Obstacle;
import dev.cay.testing.Fast;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.LocalDate;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

@Fast
final class ChecksTest {
    @Test
    void readsVersionsAsPeopleWriteThem() {
        assertThat(Version.in("Version: 3.17.1\nGitID: x")).hasValue(new Version(3, 17));
        assertThat(Version.in("6.18.5-amd64")).hasValue(new Version(6, 18));
        assertThat(Version.in("none")).isEmpty();
        assertThat(new Version(6, 9).isAtLeast(6, 16)).isFalse();
    }

    @Test
    void oldCriuOnANewKernelNeedsTheShim() {
        assertThat(ProgramChecks.checkpoint("Version: 3.17.1", "6.18.5", "amd64")
                        .found())
                .contains("shim");
        assertThat(ProgramChecks.checkpoint("Version: 4.2", "6.18.5", "amd64").level())
                .isEqualTo(Level.OK);
        assertThat(ProgramChecks.checkpoint("Version: 3.17.1", "6.1.0", "amd64").level())
                .isEqualTo(Level.OK);
        assertThat(ProgramChecks.checkpoint("", "6.1.0", "amd64").found()).contains("files only");
    }

    @Test
    void someKernelsOfX86ShowClocksThatOldCriuDoesNotKnow() {
        for (String kernel : List.of("6.13.0", "6.14.2", "6.16.9")) {
            assertThat(ProgramChecks.checkpoint("Version: 3.17.1", kernel, "amd64")
                            .level())
                    .isEqualTo(Level.WARN);
        }
        assertThat(ProgramChecks.checkpoint("Version: 3.17.1", "6.14.2", "aarch64")
                        .level())
                .isEqualTo(Level.OK);
        assertThat(ProgramChecks.checkpoint("Version: 4.1", "6.16.0", "amd64").found())
                .contains("shim");
    }

    @Test
    void kernelsBefore61AreRefused() {
        assertThat(KernelChecks.kernel("6.1.0-30-amd64").level()).isEqualTo(Level.OK);
        assertThat(KernelChecks.kernel("5.15.0").level()).isEqualTo(Level.FAIL);
        assertThat(KernelChecks.faults(true, true).level()).isEqualTo(Level.OK);
        assertThat(KernelChecks.faults(true, false).level()).isEqualTo(Level.WARN);
        assertThat(KernelChecks.faults(null, true).level()).isEqualTo(Level.OK);
        assertThat(KernelChecks.faults(null, false).level()).isEqualTo(Level.NOTE);
        assertThat(KernelChecks.faults(false, true).level()).isEqualTo(Level.NOTE);
    }

    @Test
    void tellsTheThreeWaysOfMountingCgroupsApart() {
        String unified = "cgroup2 /sys/fs/cgroup cgroup2 rw 0 0";
        String hybrid = "cgroup2 /sys/fs/cgroup/unified cgroup2 rw 0 0\ncgroup /sys/fs/cgroup/memory cgroup rw 0 0";
        assertThat(KernelChecks.cgroups(unified, "cpuset cpu io memory pids").found())
                .isEqualTo("v2");
        assertThat(KernelChecks.cgroups(unified, "cpu pids").found()).isEqualTo("v2 without memory");
        assertThat(KernelChecks.cgroups(hybrid, "").found()).startsWith("hybrid");
        assertThat(KernelChecks.cgroups("cgroup /sys/fs/cgroup/memory cgroup rw 0 0", "")
                        .found())
                .isEqualTo("v1");
        assertThat(KernelChecks.cgroups("", "").level()).isEqualTo(Level.FAIL);
    }

    @Test
    void readsTheLimitOfOpenFiles() {
        String low = "Max open files            1024                 20000                files";
        String high = "Max open files            1024                 1048576              files";
        assertThat(KernelChecks.descriptors(low, false).level()).isEqualTo(Level.WARN);
        assertThat(KernelChecks.descriptors(low, true).level()).isEqualTo(Level.OK);
        assertThat(KernelChecks.descriptors(high, false).level()).isEqualTo(Level.OK);
    }

    @Test
    void readsKernelSettingsWhole() {
        assertThat(Integer.parseInt(Probe.read("/proc/sys/kernel/pid_max"))).isGreaterThan(300);
    }

    @Test
    void readsAvailableMemory() {
        assertThat(KernelChecks.memory("MemTotal: 1 kB\nMemAvailable:    2097152 kB")
                        .found())
                .startsWith("2048 MB");
    }

    @Test
    void aTakenPortNamesWhoHasItAndTheCommandThatTakesAnother() throws Exception {
        try (var taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            var finding = NetworkChecks.port(taken.getLocalPort(), "./cay up --port N --config /x.yaml");
            assertThat(finding.found())
                    .contains("pid " + ProcessHandle.current().pid());
            assertThat(finding.fix()).endsWith("sudo ./cay up --port N --config /x.yaml");
        }
    }

    @Test
    void aRouteIntoOurRangeIsAClash() {
        String header = "Iface Destination Gateway Flags RefCnt Use Metric Mask MTU Window IRTT\n";
        String fallback = "eth0 00000000 0102A8C0 0003 0 0 0 00000000 0 0 0\n";
        String ours = "cay01 0500C80A 00000000 0005 0 0 0 FFFFFFFF 0 0 0\n";
        assertThat(NetworkChecks.routes(HostRoutes.parse(header + fallback + ours), "10.200.0.0/16")
                        .level())
                .isEqualTo(Level.OK);
        String inside = "docker0 0007C80A 00000000 0001 0 0 0 00FFFFFF 0 0 0\n";
        assertThat(NetworkChecks.routes(HostRoutes.parse(header + inside), "10.200.0.0/16")
                        .found())
                .contains("docker0");
        String around = "tun0 0000000A 00000000 0001 0 0 0 000000FF 0 0 0\n";
        assertThat(NetworkChecks.routes(HostRoutes.parse(header + around), "10.200.0.0/16")
                        .level())
                .isEqualTo(Level.WARN);
        String beside = "eth1 0000C90A 00000000 0001 0 0 0 0000FFFF 0 0 0\n";
        assertThat(NetworkChecks.routes(HostRoutes.parse(header + beside), "10.200.0.0/16")
                        .level())
                .isEqualTo(Level.OK);
    }

    @Test
    void aFirewallInTheWayIsNamedOnceWithEveryCommandItTakes() {
        var both = List.of(
                new Obstacle("nftables chain inet mine forward drops by default", "nft insert rule a"),
                new Obstacle("nftables chain inet mine forward drops by default", "nft insert rule \"b\""));
        var findings = NetworkChecks.firewall(both);
        assertThat(findings).hasSize(1);
        assertThat(findings.getFirst().found()).contains("inet mine forward");
        assertThat(findings.getFirst().fix()).isEqualTo("sudo nft 'insert rule a'; sudo nft 'insert rule \"b\"'");
        assertThat(NetworkChecks.firewall(List.of()).getFirst().level()).isEqualTo(Level.OK);
    }

    @Test
    void namesWhatTemplatesNeed() {
        assertThat(ProgramChecks.templates(Map.of()).level()).isEqualTo(Level.OK);
        var missing = ProgramChecks.templates(Map.of("mmdebstrap", "mmdebstrap"));
        assertThat(missing.level()).isEqualTo(Level.FAIL);
        assertThat(missing.fix()).isEqualTo("sudo apt-get install -y mmdebstrap");
    }

    @Test
    void aSubordinateRangeAboveOurBaseIsAClash() {
        assertThat(NetworkChecks.uids("ann:100000:65536", 1_000_000_000).level())
                .isEqualTo(Level.OK);
        assertThat(NetworkChecks.uids("ann:100000:65536\nbob:1000000000:65536", 1_000_000_000)
                        .found())
                .contains("bob");
    }

    @Test
    void knowsWhetherNamesUnderLocalhostResolve() {
        assertThat(NetworkChecks.nameSwitch("hosts: files dns", "cay.localhost").level())
                .isEqualTo(Level.WARN);
        assertThat(NetworkChecks.nameSwitch("hosts:          files myhostname dns", "cay.localhost")
                        .level())
                .isEqualTo(Level.OK);
        assertThat(NetworkChecks.nameSwitch("hosts: files resolve [!UNAVAIL=return] dns", "cay.localhost")
                        .level())
                .isEqualTo(Level.OK);
    }

    @Test
    void namesTheHolesOfOldRuncs() {
        assertThat(SecurityChecks.runc("runc version 1.1.11\ncommit: x").found())
                .contains("CVE-2024-21626");
        assertThat(SecurityChecks.runc("runc version 1.2.8").found())
                .contains("CVE-2026-41579")
                .doesNotContain("CVE-2025-31133");
        assertThat(SecurityChecks.runc("runc version 1.3.2").found()).contains("CVE-2025-31133");
        assertThat(SecurityChecks.runc("runc version 1.4.3").level()).isEqualTo(Finding.Level.OK);
        assertThat(SecurityChecks.runc("runc version 1.1.5+ds1").level()).isEqualTo(Finding.Level.NOTE);
    }

    @Test
    void tellsHowOldAKernelIs() {
        var today = LocalDate.of(2026, 6, 1);
        String debian = "Linux version 6.1.0-49-amd64 (x) #1 SMP PREEMPT_DYNAMIC Debian 6.1.170-1 (2026-05-20)";
        assertThat(SecurityChecks.kernelAge(debian, today).level()).isEqualTo(Finding.Level.OK);
        String ubuntu = "Linux version 6.8.0-31-generic (x) #31-Ubuntu SMP Sat Apr  6 00:40:06 UTC 2024";
        assertThat(SecurityChecks.kernelAge(ubuntu, today).level()).isEqualTo(Finding.Level.WARN);
    }
}
