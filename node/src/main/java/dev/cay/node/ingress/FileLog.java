package dev.cay.node.ingress;

import dev.cay.node.files.Account;
import dev.cay.node.files.SandboxPath;
import dev.cay.node.log.SandboxLog;
import java.util.Map;

/// Logs clients' changes to a sandbox's files. Reads are not logged.
final class FileLog {
    private static final String LOGGER = "filesystem";

    private FileLog() {}

    static void written(SandboxLog log, SandboxPath path, long size, Account user) {
        log.info(
                LOGGER,
                "File written",
                Map.of("event_type", "write", "path", path.text(), "size", Long.toString(size), "user", user.name()));
    }

    static void made(SandboxLog log, SandboxPath path, Account user) {
        log.info(LOGGER, "Directory made", Map.of("event_type", "make_dir", "path", path.text(), "user", user.name()));
    }

    static void moved(SandboxLog log, SandboxPath from, SandboxPath to, Account user) {
        log.info(
                LOGGER,
                "File moved",
                Map.of("event_type", "move", "path", from.text(), "destination", to.text(), "user", user.name()));
    }

    static void removed(SandboxLog log, SandboxPath path, Account user) {
        log.info(LOGGER, "File removed", Map.of("event_type", "remove", "path", path.text(), "user", user.name()));
    }
}
