package dev.cay.prove.escape;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/// Takes guards out of a bundle's `config.json`.
final class BundleEdit {
    /// Every capability, in the kernel's order.
    private static final List<String> CAPABILITIES = List.of("""
            CHOWN DAC_OVERRIDE DAC_READ_SEARCH FOWNER FSETID KILL SETGID SETUID SETPCAP LINUX_IMMUTABLE
            NET_BIND_SERVICE NET_BROADCAST NET_ADMIN NET_RAW IPC_LOCK IPC_OWNER SYS_MODULE SYS_RAWIO SYS_CHROOT
            SYS_PTRACE SYS_PACCT SYS_ADMIN SYS_BOOT SYS_NICE SYS_RESOURCE SYS_TIME SYS_TTY_CONFIG MKNOD LEASE
            AUDIT_WRITE AUDIT_CONTROL SETFCAP MAC_OVERRIDE MAC_ADMIN SYSLOG WAKE_ALARM BLOCK_SUSPEND AUDIT_READ
            PERFMON BPF CHECKPOINT_RESTORE
            """.strip().split("\\s+"));

    private static final Pattern OWN = Pattern.compile("(?m)^CapBnd:\\s*([0-9a-f]{1,16})$");

    private final ObjectNode config;
    private final OutsideWorld world;

    BundleEdit(ObjectNode config, Path root, String name, OutsideWorld world) {
        this.config = config;
        this.world = world;
        object("root").put("path", root.toString());
        linux().put("cgroupsPath", "/" + name);
        // Its synthetic files lie in the bundle of the sandbox, which may end before us.
        dropMounts(mount -> destination(mount).startsWith("/proc/"));
    }

    /// Who owns the files of the root.
    long owner(Set<Guard> removed) {
        return removed.contains(Guard.USER_NAMESPACE)
                ? 0
                : linux().path("uidMappings").path(0).path("hostID").asLong();
    }

    /// Without its network too, which is the hook's work, unless the hook is kept.
    ObjectNode without(Set<Guard> removed, List<String> command) throws IOException {
        config.remove("hooks");
        return withHook(removed, command);
    }

    ObjectNode withHook(Set<Guard> removed, List<String> command) throws IOException {
        var arguments = object("process").putArray("args");
        command.forEach(arguments::add);
        removed.forEach(this::take);
        if (removed.contains(Guard.CAPABILITIES)) {
            giveCapabilities(removed.contains(Guard.USER_NAMESPACE));
        }
        return config;
    }

    private void take(Guard guard) {
        switch (guard) {
            case FILTER -> linux().remove("seccomp");
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
            case CAPABILITIES, USER_LIMITS, DESCRIPTORS, PEER_CHECK, FIREWALL, LINK, KERNEL -> {}
        }
    }

    /// Outside a user namespace nobody can give what he lacks himself.
    private void giveCapabilities(boolean ofHost) throws IOException {
        var own = OWN.matcher(Files.readString(Path.of("/proc/self/status")));
        long mask = ofHost && own.find() ? Long.parseUnsignedLong(own.group(1), 16) : -1;
        var sets = object("process").putObject("capabilities");
        for (String set : List.of("bounding", "effective", "permitted")) {
            var names = sets.putArray(set);
            for (int bit = 0; bit < CAPABILITIES.size(); bit++) {
                if ((mask >> bit & 1) != 0) {
                    names.add("CAP_" + CAPABILITIES.get(bit));
                }
            }
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
        bind("/sys/fs/cgroup");
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
