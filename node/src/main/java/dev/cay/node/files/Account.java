package dev.cay.node.files;

import java.util.List;

/// A user of a sandbox, as its own `/etc/passwd` and `/etc/group` tell. Ids as the sandbox counts.
public record Account(String name, int uid, int gid, String home, String shell, List<Integer> groups) {
    public Account {
        groups = List.copyOf(groups);
    }
}
