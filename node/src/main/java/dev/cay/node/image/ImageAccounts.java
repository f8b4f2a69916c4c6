package dev.cay.node.image;

import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/// The layer on top of a foreign image that gives it the user `user`, with a home and the right to become root without
/// a password. It is written on the host, so that it works for images without a shell.
///
/// The user has id 1000, or the next one that is free. An image that has a shell but no bash gets a `bash` that calls
/// that shell.
public final class ImageAccounts {
    private static final String USER = "user";
    private static final int FIRST_ID = 1000;
    private static final int LAST_ID = 60_000;
    private static final String HOME = "/home/user";

    /// Clients run commands by this name. Most work in any shell.
    private static final String BASH = "#!/bin/sh\nexec /bin/sh \"$@\"\n";

    private final LayerView view;

    /// @param layers root directories of the image's layers, top first
    public ImageAccounts(List<Path> layers) {
        this.view = new LayerView(layers);
    }

    public void fill(Path rootfs) throws IOException {
        var layer = new LayerOnTop(rootfs, view);
        addUser(layer);
        if (view.find("bin/bash").place() == null
                && view.find("usr/bin/bash").place() == null
                && view.find("bin/sh").place() != null) {
            layer.write("bin/bash", BASH, "rwxr-xr-x");
        }
    }

    private void addUser(LayerOnTop layer) throws IOException {
        String users = layer.text("etc/passwd");
        String groups = layer.text("etc/group");
        if (has(users, USER)) {
            return;
        }
        int id = freeId(users, groups);
        String root = has(users, "root") ? "" : "root:x:0:0:root:/root:/bin/sh\n";
        String shell = view.find("bin/sh").place() == null ? "/sbin/nologin" : "/bin/bash";
        layer.write("etc/passwd", root + users + "%s:x:%d:%d::%s:%s\n".formatted(USER, id, id, HOME, shell));
        layer.write(
                "etc/group", (has(groups, "root") ? "" : "root:x:0:\n") + groups + "%s:x:%d:\n".formatted(USER, id));
        String shadow = layer.text("etc/shadow");
        if (!shadow.isEmpty()) {
            layer.write("etc/shadow", shadow + USER + ":!:19000:0:99999:7:::\n", "rw-r-----");
        }
        layer.write("etc/sudoers.d/90-user", USER + " ALL=(ALL:ALL) NOPASSWD: ALL\n", "r--r-----");
        if (!layer.has(HOME.substring(1))) {
            var home = layer.directory(HOME.substring(1));
            Files.setAttribute(home, "unix:uid", id);
            Files.setAttribute(home, "unix:gid", id);
        }
    }

    private static boolean has(String accounts, String name) {
        return accounts.lines().anyMatch(line -> line.startsWith(name + ":"));
    }

    private static int freeId(String users, String groups) {
        Set<String> taken = (users + groups)
                .lines()
                .map(line -> line.split(":", -1))
                .filter(line -> line.length > 2)
                .map(line -> line[2])
                .collect(Collectors.toSet());
        for (int id = FIRST_ID; id < LAST_ID; id++) {
            if (!taken.contains(Integer.toString(id))) {
                return id;
            }
        }
        throw new CayException(ErrorKind.FAILED, "the image has no user id left for the user of sandboxes");
    }
}
