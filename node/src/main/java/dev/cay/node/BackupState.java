package dev.cay.node;

import java.util.List;
import java.util.regex.Pattern;

/// Which files of the state directory a backup has, and a restore takes.
final class BackupState {
    /// Files and directories of the state directory that cannot be made again. The rest is of use only to the daemon
    /// that made it.
    static final List<String> FILES = List.of(
            "secret",
            "secrets.keys",
            "identity.key",
            "admin.token",
            "mcp.key",
            "mcp.clients",
            "mcp-images.json",
            "mcp-repositories",
            "tls");

    /// Operators choose names of files in these directories, too. None may lead out of them.
    static final Pattern NAME =
            Pattern.compile("state/([a-z][a-z0-9.-]*(/(?!\\.{1,2}(/|$))[^/\\p{Cntrl}]{1,255}){0,16})");

    private BackupState() {}

    /// Whether a restore takes a file of the state directory.
    static boolean takes(String part) {
        return NAME.matcher(part).matches();
    }
}
