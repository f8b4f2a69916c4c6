package dev.cay.prove.escape;

import static dev.cay.prove.escape.Guard.CAPABILITIES;
import static dev.cay.prove.escape.Guard.CGROUPS;
import static dev.cay.prove.escape.Guard.DESCRIPTORS;
import static dev.cay.prove.escape.Guard.DEVICES;
import static dev.cay.prove.escape.Guard.FILTER;
import static dev.cay.prove.escape.Guard.FIREWALL;
import static dev.cay.prove.escape.Guard.GUEST_MOUNT;
import static dev.cay.prove.escape.Guard.KERNEL;
import static dev.cay.prove.escape.Guard.LINK;
import static dev.cay.prove.escape.Guard.MASKS;
import static dev.cay.prove.escape.Guard.NETWORK;
import static dev.cay.prove.escape.Guard.PEER_CHECK;
import static dev.cay.prove.escape.Guard.PROCESSES;
import static dev.cay.prove.escape.Guard.READ_ONLY;
import static dev.cay.prove.escape.Guard.ROOT;
import static dev.cay.prove.escape.Guard.USER_LIMITS;
import static dev.cay.prove.escape.Guard.USER_NAMESPACE;

import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.util.List;

/// All attempts, in the order of the report.
public final class Probes {
    private static final List<Probe> ALL = List.of(
            Probe.of("mount", "mount a file system", FILTER, CAPABILITIES),
            Probe.of("mount-new-api", "the same by fsopen", FILTER, CAPABILITIES),
            Probe.of("mount-copy", "copy the mount tree", FILTER, CAPABILITIES),
            Probe.of("mount-attributes", "make /sys writable by mount_setattr", FILTER, CAPABILITIES),
            Probe.of("remount", "make /sys writable by remount", FILTER, CAPABILITIES),
            Probe.of("unmask", "unmount what covers /proc/cmdline", FILTER, CAPABILITIES),
            Probe.of("pivot-root", "change the root", FILTER, CAPABILITIES),
            Probe.of("unshare-user", "make a user namespace, and with it capabilities", FILTER, USER_LIMITS),
            Probe.of("unshare-mount", "make a mount namespace", FILTER, CAPABILITIES),
            Probe.of("unshare-network", "make a network namespace", FILTER, CAPABILITIES),
            Probe.of("clone-user", "a process in a new user namespace", FILTER, USER_LIMITS),
            Probe.of("clone-namespaces", "a process in other new namespaces", FILTER, CAPABILITIES),
            Probe.of("clone3-user", "the same by clone3", FILTER, USER_LIMITS),
            Probe.of("setns", "enter a namespace", FILTER, CAPABILITIES),
            Probe.of("signal-outside", "signal a process of the host", PROCESSES, USER_NAMESPACE),
            Probe.of("ptrace-outside", "trace a process of the host", PROCESSES, USER_NAMESPACE, CAPABILITIES, FILTER),
            Probe.of("pidfd-outside", "open a process of the host", PROCESSES, USER_NAMESPACE),
            Probe.of("process-memory", "process_vm_readv", FILTER),
            Probe.of("keyring-add", "add a key to the kernel's keyrings", FILTER),
            Probe.of("keyring-control", "use the kernel's keyrings", FILTER),
            Probe.of("keyring-request", "request a key, which runs a program outside", FILTER),
            Probe.of("bpf", "load into the kernel's bpf", FILTER, CAPABILITIES, USER_NAMESPACE),
            Probe.of("io-uring", "io_uring, which goes round the filter", FILTER),
            Probe.of("userfaultfd", "stop the kernel in the middle of a copy", FILTER),
            Probe.of("perf-events", "perf_event_open", FILTER, CAPABILITIES, USER_NAMESPACE),
            Probe.of("kexec", "load another kernel", FILTER, CAPABILITIES, USER_NAMESPACE),
            Probe.of("kexec-file", "load another kernel from a file", FILTER, CAPABILITIES, USER_NAMESPACE),
            Probe.of("module-load", "load a module", FILTER, CAPABILITIES, USER_NAMESPACE),
            Probe.of("module-load-file", "load a module from a file", FILTER, CAPABILITIES, USER_NAMESPACE),
            Probe.of("module-unload", "unload a module", FILTER, CAPABILITIES, USER_NAMESPACE),
            Probe.of("handle-name", "name a file by handle", FILTER),
            Probe.of("handle-open", "open a file by handle", FILTER, CAPABILITIES, USER_NAMESPACE),
            Probe.of("personality", "take on a personality that weakens memory", FILTER),
            Probe.of("clock-adjust", "adjust the machine's clock", FILTER, CAPABILITIES, USER_NAMESPACE),
            Probe.of("clock-set", "set the machine's clock", FILTER),
            Probe.of("hostname", "set the host name", FILTER, CAPABILITIES),
            Probe.of("kernel-log", "read the kernel's log", FILTER, CAPABILITIES, USER_NAMESPACE),
            Probe.of("swap", "add swap", FILTER, CAPABILITIES, USER_NAMESPACE),
            Probe.of("quota", "change quotas", FILTER),
            Probe.of("reboot", "restart the machine", FILTER, CAPABILITIES),
            Probe.of("accounting", "have the kernel write a file", FILTER, CAPABILITIES, USER_NAMESPACE),
            Probe.of("fanotify", "watch a whole file system", FILTER, CAPABILITIES, USER_NAMESPACE),
            Probe.of("io-ports", "ask for the hardware's ports", FILTER),
            Probe.of("young-calls", "system calls that are newer than the filter", FILTER),
            Probe.of("open-tree-attr", "copy the mount tree by a new call", FILTER, CAPABILITIES),
            Probe.of("int80-unshare", "make a user namespace by a 32-bit call", FILTER, USER_LIMITS),
            Probe.of("int80-socket", "a forbidden socket by a 32-bit call", FILTER),
            Probe.of("x32-unshare", "make a user namespace by an x32 call", FILTER, USER_LIMITS),
            Probe.of("device-block", "make and open the host's disk", USER_NAMESPACE, DEVICES),
            Probe.of("device-memory", "make and open /dev/mem", USER_NAMESPACE, DEVICES, CAPABILITIES),
            Probe.of("device-log", "make and open /dev/kmsg", USER_NAMESPACE, DEVICES, CAPABILITIES),
            Probe.of("device-nodes", "open a dangerous device", USER_NAMESPACE, DEVICES, CAPABILITIES),
            Probe.of("core-pattern", "name a program for core dumps", READ_ONLY, USER_NAMESPACE),
            Probe.of("modprobe-path", "name the program that loads modules", READ_ONLY, USER_NAMESPACE),
            Probe.of("sysctl-vm", "change memory settings", READ_ONLY, USER_NAMESPACE),
            Probe.of("sysctl-net", "change network settings", READ_ONLY, CAPABILITIES),
            Probe.of("sysctl-user", "raise the limits of the user namespace", READ_ONLY, CAPABILITIES),
            Probe.of("sysrq", "open the kernel's emergency keys", READ_ONLY, USER_NAMESPACE),
            Probe.of("sysfs", "open a file of /sys for writing", READ_ONLY, MASKS, USER_NAMESPACE),
            Probe.of("cgroup-release-agent", "open release_agent", CGROUPS, USER_NAMESPACE, CAPABILITIES),
            Probe.of("cgroup-members", "open cgroup.procs", CGROUPS, USER_NAMESPACE),
            Probe.of("kcore", "read the kernel's memory", MASKS, USER_NAMESPACE, CAPABILITIES),
            Probe.of("kallsyms", "read the kernel's addresses", MASKS, USER_NAMESPACE, CAPABILITIES),
            Probe.of("host-facts", "read what tells of the host", MASKS),
            Probe.of("guest-overwrite", "write to the guest's program", GUEST_MOUNT),
            Probe.of("guest-exe", "write to the program of pid 1", KERNEL),
            Probe.of("guest-replace", "put another program in the guest's place", GUEST_MOUNT),
            Probe.of("guest-socket", "speak to the guest as if from the node", PEER_CHECK),
            Probe.of("host-files", "read a file of the host", ROOT),
            Probe.of("host-setuid", "make a program of the host setuid", ROOT, USER_NAMESPACE),
            Probe.of("chroot-climb", "climb out of the root", ROOT),
            Probe.of("descriptors", "go out by a descriptor left open", DESCRIPTORS),
            Probe.of("raw-socket", "a raw socket", FILTER),
            Probe.of("packet-socket", "a packet socket", FILTER),
            Probe.of("vsock", "reach the hypervisor", FILTER),
            Probe.of("kernel-ciphers", "the kernel's ciphers", FILTER),
            Probe.of("netfilter", "the firewall's own socket", FILTER),
            Probe.of("odd-families", "any other kind of socket", FILTER),
            Probe.of("socket-filter", "a program in the kernel that nobody is charged for", FILTER),
            Probe.of("reuseport-filter", "the same to choose among sockets", FILTER),
            Probe.of("socket-mark", "mark packets for the host's rules", FILTER),
            Probe.of("transparent-socket", "a socket with a foreign address", FILTER),
            Probe.of("interface", "change an interface", CAPABILITIES),
            Probe.of("host-abstract", "an abstract unix socket of the host", NETWORK, USER_NAMESPACE),
            Probe.of("reach-host", "a server on the host", FIREWALL),
            Probe.of("reach-sandbox", "a server in another sandbox", FIREWALL),
            Probe.of("reach-private", "a private network", FIREWALL),
            Probe.of("reach-metadata", "the cloud's metadata service", FIREWALL),
            Probe.of("reach-metadata6", "the same by IPv6", FIREWALL, LINK),
            Probe.of("reach-ipv6", "anybody by IPv6", FIREWALL, LINK),
            Probe.of("rebound-name", "a private address behind a public name", FIREWALL),
            Probe.of("forged-source", "a packet in another sandbox's name", FILTER, FIREWALL, LINK));

    private Probes() {}

    public static List<Probe> all() {
        return ALL;
    }

    static Probe named(String name) {
        return ALL.stream()
                .filter(probe -> probe.name().equals(name))
                .findFirst()
                .orElseThrow(
                        () -> new CayException(ErrorKind.INTERNAL, "cay-probe knows %s, we do not".formatted(name)));
    }

    /// Attempts that a sandbox can make on any host: who owns the name behind an address is known only in a lab.
    public static List<Probe> inside() {
        return ALL.stream()
                .filter(probe -> !probe.name().equals("rebound-name"))
                .toList();
    }
}
