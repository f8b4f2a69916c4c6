package dev.cay.node.build;

import dev.cay.node.image.LayerView;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.util.List;

/// Users and groups by the names that files of layers give them.
record LayerOwners(LayerView view) {
    private static final long MOST_BYTES = 1 << 20;
    private static final int HIGHEST_ID = 65_535;

    /// The owner of a file.
    record Owner(int uid, int gid) {
        static final Owner ROOT = new Owner(0, 0);
    }

    /// @param text a user's name or number, with a group's after a colon; empty for root
    Owner find(String text) throws IOException {
        if (text.isEmpty()) {
            return Owner.ROOT;
        }
        int colon = text.indexOf(':');
        String user = colon < 0 ? text : text.substring(0, colon);
        int uid = id(user);
        int gid = uid;
        for (String[] line : lines("etc/passwd")) {
            if (uid < 0 && line.length > 3 && line[0].equals(user)) {
                uid = id(line[2]);
                gid = id(line[3]);
            }
        }
        String group = colon < 0 ? "" : text.substring(colon + 1);
        if (!group.isEmpty()) {
            gid = group(group);
        }
        require(uid, "user", user);
        require(gid, "group", group.isEmpty() ? user : group);
        return new Owner(uid, gid);
    }

    private int group(String name) throws IOException {
        int number = id(name);
        for (String[] line : lines("etc/group")) {
            if (number < 0 && line.length > 2 && line[0].equals(name)) {
                number = id(line[2]);
            }
        }
        return number;
    }

    private static void require(int id, String what, String name) {
        if (id < 0) {
            throw new CayException(
                    ErrorKind.INVALID_ARGUMENT, "there is no %s '%s' in the image".formatted(what, name));
        }
    }

    private List<String[]> lines(String path) throws IOException {
        var file = view.find(path).place();
        if (file == null || !Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS) || Files.size(file) > MOST_BYTES) {
            return List.of();
        }
        return new String(Files.readAllBytes(file), StandardCharsets.UTF_8)
                .lines()
                .map(line -> line.split(":", -1))
                .toList();
    }

    private static int id(String text) {
        return text.matches("[0-9]{1,5}") && Integer.parseInt(text) <= HIGHEST_ID ? Integer.parseInt(text) : -1;
    }
}
