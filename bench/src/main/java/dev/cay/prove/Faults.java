package dev.cay.prove;

import dev.cay.node.host.Programs;
import dev.cay.platform.OwnCay;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/// Faults at a step, as scripts that a daemon runs when it reaches the step.
enum Faults {
    /// kill -9 of the daemon.
    CRASH {
        @Override
        String script(OwnCay cay) {
            return "kill -9 $PPID\nsleep 5\n";
        }
    },
    /// Fills the pool completely.
    FULL {
        @Override
        String script(OwnCay cay) {
            return "for size in 4096 2048 1024 512 256 128 64 32 16 8 4 2 1; do\n"
                    + "  for again in 1 2; do fallocate -l ${size}M '%s'/filler-$size-$again 2>/dev/null; done\ndone\ntrue\n"
                            .formatted(pool(cay));
        }
    },
    /// kill -9 of CRIU as soon as it is at work.
    CRIU {
        @Override
        String script(OwnCay cay) {
            return hunt(cay, "criu", "$parent");
        }
    },
    /// kill -9 of runc when its CRIU is at work.
    RUNC {
        @Override
        String script(OwnCay cay) {
            return hunt(cay, "runc", "$pid");
        }
    };

    private static final Duration LIMIT = Duration.ofSeconds(60);

    abstract String script(OwnCay cay);

    /// Lies in wait at a step.
    void arm(OwnCay cay, String step) throws IOException {
        Files.createDirectories(cay.faults());
        Files.deleteIfExists(done(cay));
        Files.deleteIfExists(killed(cay));
        Files.writeString(hunting(cay), "");
        Files.writeString(cay.faults().resolve(step), script(cay) + "touch '%s'\n".formatted(done(cay)));
    }

    /// Whether the daemon came by since, and all was done to it.
    static boolean wasTaken(OwnCay cay) {
        return Files.exists(done(cay));
    }

    /// Whether a program that was to be killed at work was found there.
    boolean foundItsPrey(OwnCay cay) {
        return (this != CRIU && this != RUNC) || Files.exists(killed(cay));
    }

    /// Takes away what none of them does by itself.
    static void clear(OwnCay cay, String step) throws IOException {
        Files.deleteIfExists(cay.faults().resolve(step));
        Files.deleteIfExists(hunting(cay));
        boolean full = false;
        try (var fillers = Files.newDirectoryStream(pool(cay), "filler-*")) {
            for (Path filler : fillers) {
                Files.delete(filler);
                full = true;
            }
        }
        if (full) {
            // What was deleted is free when that is on the disk, and for names and sizes only when btrfs has taken back
            // what it had set aside for content, which may take it half a minute.
            Programs.ofHost().require(LIMIT, "sync", "-f", pool(cay).toString());
            Programs.ofHost()
                    .require(
                            LIMIT,
                            "btrfs",
                            "balance",
                            "start",
                            "-dusage=0",
                            pool(cay).toString());
        }
    }

    private static Path done(OwnCay cay) {
        return cay.faults().resolve("script.done");
    }

    private static Path killed(OwnCay cay) {
        return cay.faults().resolve("prey.killed");
    }

    /// Without it a hunt is over.
    private static Path hunting(OwnCay cay) {
        return cay.faults().resolve("hunting");
    }

    private static Path pool(OwnCay cay) {
        return cay.directory().resolve("state/pool");
    }

    /// Looks for a program of this daemon, in the background, once CRIU has begun to write.
    ///
    /// @param runc how to find the runc of one that was found
    private static String hunt(OwnCay cay, String program, String runc) {
        return String.join(
                "\n",
                List.of(
                        "( while [ -e '%s' ]; do".formatted(hunting(cay)),
                        "  set -- '%s'/snapshots/*/memory/core-1.img '%s'/run/bundles/*/criu/restore.log"
                                .formatted(pool(cay), cay.directory()),
                        "  [ -e \"$1\" ] || [ -e \"$2\" ] || continue",
                        "  for pid in $(pgrep -x %s); do".formatted(program),
                        "    read -r _ _ _ parent _ < /proc/$pid/stat",
                        "    grep -qa '%2$s' /proc/%1$s/cmdline && kill -9 $pid && touch '%3$s' && exit"
                                .formatted(runc, cay.directory(), killed(cay)),
                        "  done",
                        "done ) >/dev/null 2>&1 &",
                        ""));
    }
}
