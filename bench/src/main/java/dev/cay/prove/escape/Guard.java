package dev.cay.prove.escape;

/// A protection between a sandbox and the rest of the machine; a control removes some of it.
public enum Guard {
    FILTER("system call filter"),
    CAPABILITIES("withheld capabilities"),
    USER_NAMESPACE("user namespace"),
    USER_LIMITS("limits of the user namespace"),
    MASKS("masked paths"),
    READ_ONLY("read-only /proc/sys and /sys"),
    DEVICES("no devices"),
    PROCESSES("pid namespace"),
    NETWORK("network namespace"),
    CGROUPS("no cgroup files"),
    GUEST_MOUNT("read-only mount of the guest"),
    PEER_CHECK("the guest asks who calls"),
    ROOT("mount namespace with a root of its own"),
    DESCRIPTORS("nothing is left open"),
    FIREWALL("firewall"),
    LINK("link without IPv6, own source address only"),
    /// Not a setting of Cay, so it cannot be removed.
    KERNEL("the kernel itself");

    private final String words;

    Guard(String words) {
        this.words = words;
    }

    public String words() {
        return words;
    }
}
