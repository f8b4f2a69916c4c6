package dev.cay.node.runtime;

import dev.cay.node.linux.ErrnoException;
import dev.cay.node.linux.FuseControl;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// A file system that a program in a sandbox serves, mounted by the node.
///
/// The kernel's list of a sandbox's mounts is the only record of them: nobody inside can mount or unmount.
///
/// @param path       where it is mounted, as the sandbox sees it
/// @param connection its number among the kernel's FUSE connections
/// @param user       who has mounted it, as the sandbox counts users
public record FuseMount(String path, int connection, int user) {
    private static final Logger log = LoggerFactory.getLogger(FuseMount.class);
    private static final Pattern ESCAPED = Pattern.compile("\\\\([0-7]{3})");
    private static final Pattern USER = Pattern.compile("(?:^|,)user_id=(\\d{1,9})(?:,|$)");
    private static final Path PROC = Path.of("/proc");

    /// The FUSE mounts of a sandbox, in the order in which they were mounted.
    public static List<FuseMount> of(Container container) {
        try {
            return in(PROC.resolve(Integer.toString(container.pid())).resolve("mountinfo"));
        } catch (IOException e) {
            throw new CayException(ErrorKind.UNAVAILABLE, "the mounts of the sandbox cannot be read", e);
        }
    }

    static List<FuseMount> in(Path mountinfo) throws IOException {
        var found = new ArrayList<FuseMount>();
        for (String line : Files.readAllLines(mountinfo, StandardCharsets.ISO_8859_1)) {
            String[] halves = line.split(" - ", 2);
            String[] place = halves[0].split(" ");
            String[] kind = halves.length == 2 ? halves[1].split(" ") : new String[0];
            if (place.length > 5 && kind.length > 2 && isFuse(kind[0])) {
                var user = USER.matcher(kind[2]);
                found.add(new FuseMount(
                        plain(place[4]),
                        Integer.parseInt(place[2].substring(place[2].indexOf(':') + 1)),
                        user.find() ? Integer.parseInt(user.group(1)) : 0));
            }
        }
        return found;
    }

    private static boolean isFuse(String type) {
        return type.equals("fuse") || type.startsWith("fuse.") || type.equals("fuseblk");
    }

    /// Refuses with NOT_SAVED to save the memory of a sandbox that has one. A process that waits for an answer cannot
    /// be frozen once its server is, and CRIU knows no such file system.
    public static void refuse(Container container) {
        var mounts = of(container);
        if (!mounts.isEmpty()) {
            String path = mounts.getFirst().path();
            throw new CayException(
                    ErrorKind.NOT_SAVED,
                    "the memory of the sandbox cannot be saved while a FUSE file system is mounted at %s. Unmount it with fusermount3 -u %s, or keep the files alone with memory false"
                            .formatted(path, path));
        }
    }

    /// Ends the connections that are left of a sandbox, so that nothing in it waits for an answer any more. Where the
    /// server itself waits for one, not even a killed process can end before that.
    ///
    /// @param pids of processes that do not end
    static void endAllOf(Collection<Integer> pids) {
        var connections = new HashSet<Integer>();
        for (int pid : pids) {
            connections.addAll(connections(PROC.resolve(Integer.toString(pid)).resolve("task")));
        }
        abort(connections);
    }

    /// The FUSE connections of all threads: a thread that has ended has none, and it may be the first.
    private static Set<Integer> connections(Path tasks) {
        var found = new HashSet<Integer>();
        try (var threads = Files.newDirectoryStream(tasks)) {
            for (var thread : threads) {
                try {
                    in(thread.resolve("mountinfo")).forEach(mount -> found.add(mount.connection()));
                } catch (IOException _) {
                    // It has ended.
                }
            }
        } catch (IOException | DirectoryIteratorException _) {
            // So has the process.
        }
        return found;
    }

    /// Aborts connections, but none of the host's own file systems, which a container that has just started still sees.
    private static void abort(Collection<Integer> connections) {
        if (connections.isEmpty()) {
            return;
        }
        try {
            var all = new HashSet<>(connections);
            in(PROC.resolve("self/mountinfo")).forEach(mount -> all.remove(mount.connection()));
            FuseControl.abort(all);
            log.atInfo().addKeyValue("connections", all).log("FUSE connections of a sandbox were ended");
        } catch (ErrnoException e) {
            throw new CayException(ErrorKind.INTERNAL, "FUSE connections of a sandbox cannot be ended", e);
        } catch (IOException e) {
            throw new CayException(ErrorKind.INTERNAL, "the mounts of this machine cannot be read", e);
        }
    }

    /// Ends the connection of this one.
    public void end() {
        abort(List.of(connection));
    }

    private static String plain(String field) {
        String bytes = ESCAPED.matcher(field)
                .replaceAll(
                        escape -> Matcher.quoteReplacement(Character.toString(Integer.parseInt(escape.group(1), 8))));
        return new String(bytes.getBytes(StandardCharsets.ISO_8859_1), StandardCharsets.UTF_8);
    }
}
