package dev.cay.node.files;

import dev.cay.node.linux.Errno;
import dev.cay.node.linux.ErrnoException;
import dev.cay.node.linux.FileStatus;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// Users and groups of a sandbox. Its files are hostile: they are read with a limit, and malformed lines are skipped.
final class Accounts {
    private static final int MAX_BYTES = 1 << 20;
    private static final int MAX_ID = 65_535;

    private record Stamp(long inode, Instant modified, long size) {
        static Stamp of(FileStatus status) {
            return new Stamp(status.inode(), status.modified(), status.size());
        }
    }

    private record Table(@Nullable Stamp stamp, List<String[]> lines, Map<String, String> names) {
        static final Table EMPTY = new Table(null, List.of(), Map.of());

        /// @param lines of which the third part is a number, and the first its name
        static Table of(Stamp stamp, List<String[]> lines) {
            var names = new HashMap<String, String>();
            for (String[] line : lines) {
                if (line.length > 2) {
                    names.putIfAbsent(line[2], line[0]);
                }
            }
            return new Table(stamp, lines, names);
        }

        /// The name of a number, or the number as text.
        String name(int id) {
            String text = Integer.toString(id);
            return names.getOrDefault(text, text);
        }
    }

    private final FileWork work;
    private volatile Table users = Table.EMPTY;
    private volatile Table groups = Table.EMPTY;

    Accounts(FileWork work) {
        this.work = work;
    }

    /// A number that no user has is an account too, as for Docker: of group 0, at home in the root directory.
    ///
    /// File work: not on a virtual thread.
    ///
    /// @param name a user's name or number, with a group's name or number after a colon if that shall be another
    Optional<Account> find(String name) throws IOException {
        refresh();
        int colon = name.indexOf(':');
        if (colon < 0) {
            return findUser(name);
        }
        int gid = group(name.substring(colon + 1));
        return gid < 0
                ? Optional.empty()
                : findUser(name.substring(0, colon))
                        .map(user ->
                                new Account(user.name(), user.uid(), gid, user.home(), user.shell(), List.of(gid)));
    }

    private Optional<Account> findUser(String name) {
        int number = id(name);
        for (String[] user : users.lines()) {
            if (user.length >= 7 && (user[0].equals(name) || (number >= 0 && id(user[2]) == number))) {
                int uid = id(user[2]);
                int gid = id(user[3]);
                if (uid >= 0 && gid >= 0) {
                    String home = user[5].startsWith("/") ? user[5] : "/";
                    return Optional.of(new Account(user[0], uid, gid, home, user[6], groupsOf(user[0], gid)));
                }
            }
        }
        return number < 0 ? Optional.empty() : Optional.of(new Account(name, number, 0, "/", "/bin/sh", List.of(0)));
    }

    private int group(String name) {
        for (String[] group : groups.lines()) {
            if (group.length > 2 && group[0].equals(name)) {
                return id(group[2]);
            }
        }
        return id(name);
    }

    /// The name, or the number as text.
    String userName(int uid) {
        return users.name(uid);
    }

    String groupName(int gid) {
        return groups.name(gid);
    }

    void refresh() throws IOException {
        users = read("/etc/passwd", users);
        groups = read("/etc/group", groups);
    }

    private List<Integer> groupsOf(String name, int primary) {
        var found = new ArrayList<Integer>();
        found.add(primary);
        for (String[] group : groups.lines()) {
            int gid = group.length > 3 ? id(group[2]) : -1;
            if (gid >= 0 && gid != primary && List.of(group[3].split(",")).contains(name)) {
                found.add(gid);
            }
        }
        return found;
    }

    /// Names the file without opening it, which is enough for each call but the first.
    private @Nullable Stamp stamp(String path) throws IOException {
        try {
            return Stamp.of(work.status(path));
        } catch (ErrnoException _) {
            return null;
        }
    }

    private Table read(String path, Table before) throws IOException {
        if (before.stamp() != null && before.stamp().equals(stamp(path))) {
            return before;
        }
        try (var file = work.openRegular(path)) {
            var status = file.status();
            var stamp = Stamp.of(status);
            byte[] bytes = new byte[(int) Math.min(MAX_BYTES, status.size())];
            int length = file.readFully(bytes);
            var lines = new String(bytes, 0, length, StandardCharsets.UTF_8)
                    .lines()
                    .map(line -> line.split(":", -1))
                    .toList();
            return Table.of(stamp, lines);
        } catch (ErrnoException e) {
            if (e.errno() == Errno.ENOENT) {
                return Table.EMPTY;
            }
            throw e;
        }
    }

    private static int id(String text) {
        if (!text.matches("[0-9]{1,5}")) {
            return -1;
        }
        int id = Integer.parseInt(text);
        return id <= MAX_ID ? id : -1;
    }
}
