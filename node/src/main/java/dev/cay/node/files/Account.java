package dev.cay.node.files;

import java.util.List;

/// A user of a sandbox, as its own `/etc/passwd` and `/etc/group` tell. Ids as the sandbox counts.
public record Account(String name, int uid, int gid, String home, String shell, List<Integer> groups) {
    /// The root user of every sandbox, whatever its files say.
    public static final Account ROOT = new Account("root", 0, 0, "/root", "/bin/sh", List.of(0));

    public Account {
        groups = List.copyOf(groups);
    }
}
