package dev.cay.cli.doctor;

import dev.cay.cli.local.Root;
import dev.cay.config.CayConfig;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/// What the kernel can do, and how much of the machine is left.
final class KernelChecks implements Check {
    private static final int DESCRIPTORS = 65_536;
    private static final long GB = 1L << 30;

    /// In namespaces of their own, which vanish with the process: the real thing, and no trace.
    private static final String OVERLAY = "mount -t tmpfs none /mnt && cd /mnt && mkdir l u w m && "
            + "mount -t overlay -o lowerdir=l,upperdir=u,workdir=w none m";

    private static final String VETH = "ip link add name cayprobe0 type veth peer name cayprobe1";
    private static final String NFT = "nft add table inet cay_probe";

    @Override
    public List<Finding> look(CayConfig config, UnaryOperator<String> command) {
        var findings = new ArrayList<Finding>();
        findings.add(kernel(System.getProperty("os.version", "")));
        findings.add(cgroups(Probe.read("/proc/mounts"), Probe.read("/sys/fs/cgroup/cgroup.controllers")));
        findings.add(tried("overlayfs", "--mount", OVERLAY, "overlay"));
        findings.add(tried("veth", "--net", VETH, "veth"));
        findings.add(tried("nftables", "--net", NFT, "nf_tables"));
        findings.add(btrfs());
        boolean raisable = Probe.run("sh", "-c", "ulimit -n " + DESCRIPTORS)
                .filter(Probe.Answer::succeeded)
                .isPresent();
        findings.add(descriptors(Probe.read("/proc/self/limits"), raisable));
        findings.add(faults(config.sandboxes().lazyMemory(), Files.exists(Path.of("/dev/userfaultfd"))));
        findings.add(sysctls());
        findings.add(disk(config));
        findings.add(memory(Probe.read("/proc/meminfo")));
        return findings;
    }

    static Finding kernel(String release) {
        boolean enough =
                Version.in(release).filter(version -> version.isAtLeast(6, 1)).isPresent();
        return enough
                ? Finding.ok("kernel", release)
                : Finding.fail("kernel", release + " is older than 6.1", "upgrade to a kernel from 6.1 on");
    }

    /// Hybrid hosts mount version 2 beside version 1 and keep the controllers in version 1.
    static Finding cgroups(String mounts, String controllers) {
        boolean unified = mounts.lines().anyMatch(line -> line.contains(" /sys/fs/cgroup cgroup2 "));
        boolean second = mounts.lines().anyMatch(line -> line.contains(" cgroup2 "));
        boolean first = mounts.lines().anyMatch(line -> line.contains(" cgroup "));
        if (unified) {
            var missing = new ArrayList<>(List.of("cpu", "memory", "pids"));
            missing.removeAll(Set.of(controllers.split("\\s+")));
            return missing.isEmpty()
                    ? Finding.ok("cgroups", "v2")
                    : Finding.fail(
                            "cgroups",
                            "v2 without " + String.join(", ", missing),
                            "enable them at boot, for memory with cgroup_enable=memory, and reboot");
        }
        if (first) {
            return Finding.ok("cgroups", second ? "hybrid (v1 and v2)" : "v1");
        }
        return Finding.fail("cgroups", "none mounted", "sudo mount -t cgroup2 none /sys/fs/cgroup");
    }

    private static Finding tried(String name, String namespace, String script, String module) {
        if (!Root.here()) {
            return Finding.note(name, "not tried without root");
        }
        return Probe.run("unshare", namespace, "sh", "-c", script)
                .filter(Probe.Answer::succeeded)
                .map(_ -> Finding.ok(name, "works"))
                .orElseGet(() -> Finding.fail(name, "does not work", "sudo modprobe " + module));
    }

    private static Finding btrfs() {
        boolean loaded = Probe.read("/proc/filesystems").contains("btrfs");
        boolean there = loaded
                || Probe.run("modinfo", "btrfs").filter(Probe.Answer::succeeded).isPresent();
        return there
                ? Finding.ok("btrfs", loaded ? "works" : "as a module")
                : Finding.warn(
                        "btrfs",
                        "the kernel has none: snapshots are copies, disks have no limit",
                        "install a kernel with btrfs (Debian: sudo apt-get install linux-image-amd64)");
    }

    /// @param raisable whether a process of ours may raise its own limit, as `cay up` does
    static Finding descriptors(String limits, boolean raisable) {
        String hard = limits.lines()
                .filter(line -> line.startsWith("Max open files"))
                .map(line -> line.split("\\s+")[4])
                .findFirst()
                .orElse("0");
        boolean enough = hard.equals("unlimited") || Long.parseLong(hard) >= DESCRIPTORS;
        if (!enough && raisable) {
            return Finding.ok("open files", "at most %s; `cay up` raises it".formatted(hard));
        }
        return enough
                ? Finding.ok("open files", "at most " + hard)
                : Finding.warn(
                        "open files",
                        "at most %s; a thousand sandboxes want %d".formatted(hard, DESCRIPTORS),
                        "start Cay by docs/cay.service, or raise the hard limit of your login");
    }

    /// @param wanted whether memory shall come back while sandboxes run; null: where it can
    /// @param device whether the kernel lets Cay bring it
    static Finding faults(@Nullable Boolean wanted, boolean device) {
        if (Boolean.FALSE.equals(wanted)) {
            return Finding.note(
                    "lazy memory",
                    device
                            ? "off (sandboxes.lazyMemory); this kernel has /dev/userfaultfd"
                            : "off (sandboxes.lazyMemory)");
        }
        if (device) {
            return Finding.ok("lazy memory", "works, by /dev/userfaultfd");
        }
        String without = "the kernel has no /dev/userfaultfd: sandboxes are restored with all of their memory";
        return wanted == null
                ? Finding.note("lazy memory", without)
                : Finding.warn(
                        "lazy memory",
                        without,
                        "use a kernel from 6.1 on that is built with CONFIG_USERFAULTFD, or set sandboxes.lazyMemory to auto");
    }

    private static Finding sysctls() {
        boolean namespaces = !Probe.read("/proc/sys/user/max_user_namespaces").equals("0");
        if (!namespaces) {
            return Finding.fail(
                    "sysctls", "user namespaces are switched off", "sudo sysctl -w user.max_user_namespaces=96000");
        }
        return Finding.ok(
                "sysctls",
                "ip_forward %s, pid_max %s, inotify instances %s; `cay up` raises what is low"
                        .formatted(
                                Probe.read("/proc/sys/net/ipv4/ip_forward"),
                                Probe.read("/proc/sys/kernel/pid_max"),
                                Probe.read("/proc/sys/fs/inotify/max_user_instances")));
    }

    private static Finding disk(CayConfig config) {
        Path place = config.stateDir();
        while (!Files.exists(place) && place.getParent() != null) {
            place = place.getParent();
        }
        try {
            long free = Files.getFileStore(place).getUsableSpace();
            String found = "%d GB free at %s".formatted(free / GB, config.stateDir());
            return free >= 5 * GB
                    ? Finding.ok("disk", found)
                    : Finding.fail("disk", found + "; templates alone want 5", "make room, or set stateDir elsewhere");
        } catch (IOException _) {
            return Finding.note("disk", "could not be asked");
        }
    }

    static Finding memory(String meminfo) {
        long kilobytes = meminfo.lines()
                .filter(line -> line.startsWith("MemAvailable:"))
                .map(line -> line.replaceAll("\\D", ""))
                .mapToLong(Long::parseLong)
                .findFirst()
                .orElse(0);
        String found = "%d MB available".formatted(kilobytes / 1024);
        return kilobytes >= 1024 * 1024
                ? Finding.ok("memory", found)
                : Finding.warn("memory", found + "; a few sandboxes want 1024", "end other programs or add memory");
    }
}
