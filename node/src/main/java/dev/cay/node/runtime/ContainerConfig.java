package dev.cay.node.runtime;

import dev.cay.node.host.NetworkLimits;
import dev.cay.node.host.Programs;
import dev.cay.node.host.Slot;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/// The description of a container for runc, in the form of the Open Container Initiative: what its processes see, may
/// do and may use.
///
/// @param cgroup  of the container
/// @param cgroups of this machine
record ContainerConfig(
        Bundle bundle, ContainerSpec spec, GuestProgram guest, NetworkLimits network, String cgroup, Cgroups cgroups) {
    /// The path of the guest inside. Root inside cannot replace the program: neither a mount point nor `/run`,
    /// which is one too, can be renamed or removed, and the mount is read-only. A file deeper in a writable
    /// directory could be moved away together with that directory.
    static final String GUEST = "/run/.cay-guest";

    private static final Pattern FILES = Pattern.compile("(?m)^Max open files\\s+\\S+\\s+(\\S+)");
    private static final long MAX_FILES = 1_048_576;
    private static final long USUAL_FILES = 65_536;
    private static final int INOTIFY_INSTANCES = 512;

    private static final List<String> CAPABILITIES = List.of(
            "CAP_AUDIT_WRITE",
            "CAP_CHOWN",
            "CAP_DAC_OVERRIDE",
            "CAP_FOWNER",
            "CAP_FSETID",
            "CAP_KILL",
            "CAP_MKNOD",
            "CAP_NET_BIND_SERVICE",
            "CAP_NET_RAW",
            "CAP_SETFCAP",
            "CAP_SETGID",
            "CAP_SETPCAP",
            "CAP_SETUID",
            "CAP_SYS_CHROOT");

    /// Files that are shown empty, because they describe the host.
    private static final List<String> MASKED = List.of(
            "/proc/acpi",
            "/proc/asound",
            "/proc/cmdline",
            "/proc/diskstats",
            "/proc/interrupts",
            "/proc/kallsyms",
            "/proc/kcore",
            "/proc/keys",
            "/proc/latency_stats",
            "/proc/modules",
            "/proc/partitions",
            "/proc/sched_debug",
            "/proc/scsi",
            "/proc/timer_list",
            "/proc/timer_stats",
            "/sys/block",
            "/sys/firmware",
            "/sys/kernel",
            "/sys/module");

    private static final List<String> READ_ONLY =
            List.of("/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger");

    Map<String, Object> json() throws IOException {
        return Map.of(
                "ociVersion", "1.0.2",
                "process", process(),
                "root", Map.of("path", bundle.root().toString(), "readonly", false),
                "hostname", spec.hostname(),
                "mounts", mounts(),
                "hooks", Map.of("createRuntime", List.of(hook())),
                "annotations", annotations(),
                "linux", linux());
    }

    private Map<String, String> annotations() {
        var all = new LinkedHashMap<String, String>();
        all.put("org.criu.config", bundle.criuOptions().toString());
        for (var mount : spec.mounts()) {
            var path = mount.directory();
            all.put(Bundle.SHOWN + mount.target(), "/" + path.subpath(path.getNameCount() - 2, path.getNameCount()));
        }
        return all;
    }

    private static Map<String, Object> process() throws IOException {
        return Map.of(
                "terminal", false,
                "user", Map.of("uid", 0, "gid", 0),
                "args", List.of(GUEST, "init"),
                "env", List.of("PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"),
                "cwd", "/",
                "capabilities", Map.of("bounding", CAPABILITIES, "effective", CAPABILITIES, "permitted", CAPABILITIES),
                "rlimits", rlimits(),
                // sudo and file capabilities must work.
                "noNewPrivileges", false,
                "oomScoreAdj", oomScore());
    }

    /// Raising a limit over one's own needs a capability the daemon may lack.
    private static List<Map<String, Object>> rlimits() throws IOException {
        Matcher own = FILES.matcher(Files.readString(Path.of("/proc/self/limits")));
        long hard = own.find() && !"unlimited".equals(own.group(1)) ? Long.parseLong(own.group(1)) : MAX_FILES;
        return List.of(
                rlimit("RLIMIT_NOFILE", Math.min(hard, USUAL_FILES), Math.min(hard, MAX_FILES)),
                rlimit("RLIMIT_CORE", 0, 0));
    }

    private static Map<String, Object> rlimit(String name, long soft, long hard) {
        return Map.of("type", name, "soft", soft, "hard", hard);
    }

    /// The OOM score. It must not be the daemon's own protection, and a lower one would need a capability.
    private static int oomScore() throws IOException {
        return Math.max(
                0,
                Integer.parseInt(
                        Files.readString(Path.of("/proc/self/oom_score_adj")).strip()));
    }

    private List<Map<String, Object>> mounts() {
        var resources = spec.resources();
        var mounts = new ArrayList<Map<String, Object>>();
        mounts.add(mount("/proc", "proc", "proc", "nosuid", "noexec", "nodev"));
        mounts.add(mount("/dev", "tmpfs", "tmpfs", "nosuid", "strictatime", "mode=755", "size=64k"));
        mounts.add(mount(
                "/dev/pts",
                "devpts",
                "devpts",
                "nosuid",
                "noexec",
                "newinstance",
                "ptmxmode=0666",
                "mode=0620",
                "gid=5",
                "max=256"));
        // Files in memory cannot be killed, so together they leave room for processes that delete them.
        String shared = "size=%dm".formatted(Math.max(1, resources.memoryMB() / 2));
        String run = "size=%dm".formatted(Math.clamp(resources.memoryMB() / 8, 1, 64));
        mounts.add(mount("/dev/shm", "tmpfs", "shm", "nosuid", "noexec", "nodev", "mode=1777", shared));
        mounts.add(mount("/dev/mqueue", "mqueue", "mqueue", "nosuid", "noexec", "nodev"));
        mounts.add(mount("/sys", "sysfs", "sysfs", "nosuid", "noexec", "nodev", "ro"));
        mounts.add(mount("/run", "tmpfs", "tmpfs", "nosuid", "nodev", "mode=755", run));
        mounts.add(mount(GUEST, "bind", guest.path().toString(), "bind", "ro", "nosuid", "nodev"));
        bundle.procFiles()
                .places()
                .forEach((place, file) ->
                        mounts.add(mount(place, "bind", file.toString(), "bind", "ro", "nosuid", "nodev", "noexec")));
        bundle.mounts(spec)
                .forEach((place, shown) -> mounts.add(mount(
                        shown.target(),
                        "bind",
                        place.toString(),
                        "bind",
                        shown.readOnly() ? "ro" : "rw",
                        "nosuid",
                        "nodev")));
        return mounts;
    }

    private static Map<String, Object> mount(String place, String type, String source, String... options) {
        return Map.of("destination", place, "type", type, "source", source, "options", List.of(options));
    }

    private Map<String, Object> hook() throws IOException {
        Slot slot = spec.slot();
        String ports = network.nodePorts().stream().map(String::valueOf).collect(Collectors.joining(", "));
        return Map.of(
                "path",
                guest.path().toString(),
                "args",
                List.of(
                        "cay-guest",
                        "hook",
                        "--veth",
                        slot.veth(),
                        "--address",
                        slot.address(),
                        "--gateway",
                        slot.gateway(),
                        "--inner",
                        Slot.INNER_ADDRESS,
                        "--mtu",
                        Integer.toString(uplinkMtu()),
                        "--nft",
                        Programs.require("nft").toString(),
                        "--inotify",
                        Integer.toString(INOTIFY_INSTANCES),
                        "--connections",
                        Integer.toString(network.connections()),
                        "--megabits",
                        Integer.toString(network.megabits()),
                        "--memory",
                        Integer.toString(spec.resources().memoryMB()),
                        "--node-ports",
                        ports),
                "timeout",
                20);
    }

    /// The MTU of the host's uplink; a larger one inside would stall on networks that drop "fragmentation needed".
    private static int uplinkMtu() throws IOException {
        for (String line : Files.readAllLines(Path.of("/proc/net/route"))) {
            String[] fields = line.split("\\s+");
            if (fields.length > 1 && "00000000".equals(fields[1])) {
                Path mtu = Path.of("/sys/class/net", fields[0], "mtu");
                return Math.min(1500, Integer.parseInt(Files.readString(mtu).strip()));
            }
        }
        return 1500;
    }

    private Map<String, Object> linux() {
        var mapping = List.of(Map.of(
                "containerID", 0, "hostID", Integer.toUnsignedLong(spec.slot().uidBase()), "size", Slot.UIDS));
        var linux = new LinkedHashMap<String, Object>();
        linux.put("uidMappings", mapping);
        linux.put("gidMappings", mapping);
        // No namespace is given by path: CRIU makes a new user namespace at a restore, which would not own an existing
        // network namespace.
        linux.put(
                "namespaces",
                List.of("pid", "ipc", "uts", "mount", "cgroup", "network", "user").stream()
                        .map(type -> Map.of("type", type))
                        .toList());
        linux.put("cgroupsPath", cgroup);
        linux.put("resources", limits());
        linux.put("seccomp", SystemCalls.filter());
        linux.put("maskedPaths", MASKED);
        linux.put("readonlyPaths", READ_ONLY);
        linux.put("rootfsPropagation", "rprivate");
        return linux;
    }

    private Map<String, Object> limits() {
        var resources = spec.resources();
        long bytes = (long) resources.memoryMB() << 20;
        var memory = new LinkedHashMap<String, Object>();
        memory.put("limit", bytes);
        if (cgroups.limitsSwap()) {
            memory.put("swap", bytes);
        }
        if (cgroups.limitsSocketsApart()) {
            memory.put("kernelTCP", bytes / 4);
        }
        return Map.of(
                "devices", List.of(Map.of("allow", false, "access", "rwm")),
                "memory", memory,
                "cpu",
                        Map.of(
                                "quota",
                                (long) resources.cpuCount() * GroupLimits.CPU_PERIOD,
                                "period",
                                GroupLimits.CPU_PERIOD),
                "pids", Map.of("limit", spec.maxProcesses()));
    }
}
