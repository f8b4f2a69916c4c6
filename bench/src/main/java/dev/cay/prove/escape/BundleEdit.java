package dev.cay.prove.escape;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/// Takes guards out of a bundle's `config.json`.
final class BundleEdit {
    /// Every capability there is; a kernel that lacks the last ones makes runc warn.
    private static final List<String> CAPABILITIES = List.of("""
            CAP_CHOWN CAP_DAC_OVERRIDE CAP_DAC_READ_SEARCH CAP_FOWNER CAP_FSETID CAP_KILL CAP_SETGID CAP_SETUID
            CAP_SETPCAP CAP_LINUX_IMMUTABLE CAP_NET_BIND_SERVICE CAP_NET_BROADCAST CAP_NET_ADMIN CAP_NET_RAW
            CAP_IPC_LOCK CAP_IPC_OWNER CAP_SYS_MODULE CAP_SYS_RAWIO CAP_SYS_CHROOT CAP_SYS_PTRACE CAP_SYS_PACCT
            CAP_SYS_ADMIN CAP_SYS_BOOT CAP_SYS_NICE CAP_SYS_RESOURCE CAP_SYS_TIME CAP_SYS_TTY_CONFIG CAP_MKNOD
            CAP_LEASE CAP_AUDIT_WRITE CAP_AUDIT_CONTROL CAP_SETFCAP CAP_SYSLOG CAP_WAKE_ALARM CAP_BLOCK_SUSPEND
            CAP_PERFMON CAP_BPF CAP_CHECKPOINT_RESTORE
            """.strip().split("\\s+"));

    private static final List<String> BELOW_PROC = List.of("/proc/");

    private final ObjectNode config;
    private final OutsideWorld world;

    BundleEdit(ObjectNode config, Path root, String name, OutsideWorld world) {
        this.config = config;
        this.world = world;
        object("root").put("path", root.toString());
        linux().put("cgroupsPath", "/" + name);
        // Its synthetic files lie in the bundle of the sandbox, which may end before us.
        dropMounts(mount -> BELOW_PROC.stream().anyMatch(destination(mount)::startsWith));
    }

    /// Who owns the files of the root.
    long owner(Set<Guard> removed) {
        return removed.contains(Guard.USER_NAMESPACE)
                ? 0
                : linux().path("uidMappings").path(0).path("hostID").asLong();
    }

    /// Without its network too, which is the hook's work, unless the hook is kept.
    ObjectNode without(Set<Guard> removed, List<String> command) {
        config.remove("hooks");
        return withHook(removed, command);
    }

    ObjectNode withHook(Set<Guard> removed, List<String> command) {
        var arguments = object("process").putArray("args");
        command.forEach(arguments::add);
        removed.forEach(this::take);
        return config;
    }

    private void take(Guard guard) {
        switch (guard) {
            case FILTER -> linux().remove("seccomp");
            case CAPABILITIES -> takeCapabilities();
            case USER_NAMESPACE -> takeUserNamespace();
            case MASKS -> linux().putArray("maskedPaths");
            case READ_ONLY -> takeReadOnly();
            case DEVICES -> takeDevices();
            case PROCESSES -> takeNamespace("pid");
            case NETWORK -> takeNamespace("network");
            case CGROUPS -> takeCgroups();
            case GUEST_MOUNT -> dropMounts(mount -> destination(mount).startsWith("/run"));
            case ROOT -> bind(world.directory().toString());
            // The hook is gone; a descriptor is left by who starts runc; the rest is not the bundle's.
            case USER_LIMITS, DESCRIPTORS, PEER_CHECK, FIREWALL, LINK, KERNEL -> {}
        }
    }

    private void takeCapabilities() {
        var sets = object("process").putObject("capabilities");
        for (String set : List.of("bounding", "effective", "permitted")) {
            var names = sets.putArray(set);
            CAPABILITIES.forEach(names::add);
        }
    }

    private void takeUserNamespace() {
        takeNamespace("user");
        linux().remove(List.of("uidMappings", "gidMappings"));
    }

    private void takeReadOnly() {
        linux().putArray("readonlyPaths");
        for (var mount : mounts()) {
            if (destination(mount).equals("/sys")) {
                removeText((ArrayNode) mount.path("options"), "ro");
            }
        }
    }

    /// The host's own in their place, of which probes only ever read.
    private void takeDevices() {
        var rule = Map.of("allow", true, "access", "rwm");
        object("linux")
                .withObject("resources")
                .set("devices", JsonMapper.shared().valueToTree(List.of(rule)));
        dropMounts(mount -> destination(mount).startsWith("/dev"));
        bind("/dev");
    }

    private void takeCgroups() {
        takeNamespace("cgroup");
        mounts().add(JsonMapper.shared()
                .valueToTree(Map.of(
                        "destination",
                        "/sys/fs/cgroup",
                        "type",
                        "cgroup",
                        "source",
                        "cgroup",
                        "options",
                        List.of("nosuid", "noexec", "nodev"))));
    }

    private void bind(String directory) {
        mounts().add(JsonMapper.shared()
                .valueToTree(Map.of(
                        "destination",
                        directory,
                        "type",
                        "bind",
                        "source",
                        directory,
                        "options",
                        List.of("rbind", "rprivate"))));
    }

    private void takeNamespace(String type) {
        var left = new ArrayList<JsonNode>();
        linux().path("namespaces").forEach(namespace -> {
            if (!namespace.path("type").asString().equals(type)) {
                left.add(namespace);
            }
        });
        linux().putArray("namespaces").addAll(left);
    }

    private void dropMounts(Predicate<JsonNode> unwanted) {
        var left = new ArrayList<JsonNode>();
        mounts().forEach(mount -> {
            if (!unwanted.test(mount)) {
                left.add(mount);
            }
        });
        config.putArray("mounts").addAll(left);
    }

    private static void removeText(ArrayNode array, String text) {
        for (int i = array.size() - 1; i >= 0; i--) {
            if (array.path(i).asString().equals(text)) {
                array.remove(i);
            }
        }
    }

    private static String destination(JsonNode mount) {
        return mount.path("destination").asString();
    }

    private ArrayNode mounts() {
        return (ArrayNode) config.path("mounts");
    }

    private ObjectNode linux() {
        return object("linux");
    }

    private ObjectNode object(String name) {
        return (ObjectNode) config.path(name);
    }
}
