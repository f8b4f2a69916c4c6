package dev.cay.prove.fuzz;

import java.util.List;
import java.util.Set;

/// Paths that a file call may be asked for.
record PathStrings(Dice dice) {
    /// What some of them lead to: run in the sandbox before they are asked for. Loops, chains, links that climb, links
    /// into `/proc`, pipes, sockets, holes, locked directories, names that are no text.
    static final String PREPARE = """
            mkdir -p /home/user/p && cd /home/user/p && rm -rf * 2>/dev/null
            echo data > file && truncate -s 1T hole && mkdir -p d/e/f locked && echo x > d/e/f/g && echo y > locked/z
            ln -s loop loop; ln -s b a; ln -s a b; ln -s file good; ln -s /nonexistent/x dangling; ln -s d dir
            ln -s ../../../../../../../../../../etc/hostname climb; ln -s /proc/self/root procroot; ln -s /proc/1/root one
            ln -s /proc/self/fd/0 fd; ln -s /proc/self/exe exe; ln -s / slash; ln -s '' empty 2>/dev/null
            ln -s file c0; for i in $(seq 1 60); do ln -s c$((i-1)) c$i; done
            mkfifo fifo; mkdir 'with
            newline' 2>/dev/null; printf x > "$(printf 'bad\\377name')"; mkdir -p "$(head -c 255 /dev/zero | tr '\\0' n)"
            python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("/home/user/p/sock")'
            q=.; for i in $(seq 1 120); do q=$q/q; done; mkdir -p $q
            chown -R user:user . 2>/dev/null; chmod 000 locked
            """;

    private static final List<String> PLACES = List.of(
            "/",
            "/home/user/p",
            "/home/user/p",
            "/home/user/p",
            "p",
            "p",
            "~/p",
            "~",
            "/tmp",
            "/proc",
            "/proc/self",
            "/proc/1",
            "/dev",
            "/sys",
            "/run",
            "/etc",
            "/root",
            "",
            ".",
            "..",
            "/home/user/p/d/e");

    private static final List<String> PARTS = List.of(
            "file",
            "d",
            "e",
            "f",
            "g",
            "loop",
            "a",
            "b",
            "good",
            "dangling",
            "dir",
            "climb",
            "procroot",
            "one",
            "fd",
            "exe",
            "slash",
            "c5",
            "c39",
            "c41",
            "c60",
            "fifo",
            "sock",
            "hole",
            "locked",
            "z",
            "q",
            "..",
            "..",
            ".",
            "",
            "root",
            "cwd",
            "fd",
            "0",
            "mem",
            "environ",
            "null",
            "zero",
            "ptmx",
            "pts",
            "shm",
            "hostname",
            ".cay-guest",
            "new",
            "new2",
            "x y",
            "\u00e9",
            "\ud83d\ude00",
            "\ufeff",
            "\u202e",
            "...",
            "~",
            "*",
            "$HOME",
            "a\nb",
            "\u0001",
            "%2e%2e",
            "%00",
            "\\",
            "-rf");

    /// One for a call that destroys: mostly where that does no harm, or the sandbox would be gone with the first.
    String destructible() {
        if (dice.oneIn(400)) {
            return next();
        }
        var path = new StringBuilder(dice.pick("p", "/home/user/p", "~/p", "/tmp", "/tmp/t"));
        for (int i = dice.between(1, 4); i > 0; i--) {
            String part = dice.pick(PARTS);
            boolean harmless =
                    !Set.of("..", "slash", "procroot", "one", "climb").contains(part);
            path.append('/').append(harmless ? part : "d");
        }
        return path.toString();
    }

    String next() {
        if (dice.oneIn(50)) {
            return dice.pick(
                    "/" + "a/".repeat(dice.size(5000)),
                    "/" + "b".repeat(dice.size(10_000)),
                    "../".repeat(dice.size(3000)));
        }
        var path = new StringBuilder(dice.pick(PLACES));
        for (int i = dice.below(5); i > 0; i--) {
            path.append(dice.oneIn(12) ? "//" : "/").append(dice.pick(PARTS));
        }
        if (dice.oneIn(12)) {
            path.append(dice.pick("/", "/.", "/..", "\u0000", "\u0000.txt", "\ud800", " ", "/./././"));
        }
        if (dice.oneIn(40)) {
            path.insert(
                    dice.below(path.length() + 1),
                    dice.pick("\u0000", "~root/", "\ud800", "\u00e9".repeat(dice.size(300))));
        }
        return path.toString();
    }
}
