package dev.cay.bench;

import dev.cay.node.Abandoned;
import dev.cay.node.host.HostLedger;
import dev.cay.node.host.HostProcess;
import dev.cay.node.host.Mounts;
import dev.cay.node.host.Programs;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/// A directory for the files of one measurement, which is removed when it is closed. Its name holds the name of the
/// process, so that a later run of the same measurement finds and removes what a killed one left.
record OwnFiles(Path directory) implements AutoCloseable {
    private static final Duration LIMIT = Duration.ofMinutes(10);

    /// Ends daemons of killed runs first, as they write into the directories that are removed.
    ///
    /// @param name of the measurement
    static OwnFiles make(Path parent, String name) throws IOException {
        Abandoned.remove(HostLedger.ofHost());
        String prefix = "bench-%s-".formatted(name);
        for (var each : abandoned(parent, prefix)) {
            remove(each);
        }
        return new OwnFiles(Files.createDirectories(parent.resolve(prefix + HostProcess.current())));
    }

    /// Directories of processes that have ended.
    static List<Path> abandoned(Path parent, String prefix) throws IOException {
        var abandoned = new ArrayList<Path>();
        try (var all = Files.newDirectoryStream(parent, prefix + "*")) {
            for (var each : all) {
                var owner = HostProcess.parse(each.getFileName().toString().substring(prefix.length()));
                if (owner.isPresent() && !owner.get().runs()) {
                    abandoned.add(each);
                }
            }
        }
        return abandoned;
    }

    /// Removes them also if the measurement was interrupted: programs are not waited for by an interrupted thread.
    @Override
    public void close() {
        boolean interrupted = Thread.interrupted();
        try {
            remove(directory);
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /// A daemon that was killed while it made a layer leaves `/proc` and others of the host mounted in it.
    private static void remove(Path directory) {
        Mounts.unmountBelow(directory);
        Programs.ofHost().require(LIMIT, "rm", "-rf", "--one-file-system", "--", directory.toString());
    }
}
