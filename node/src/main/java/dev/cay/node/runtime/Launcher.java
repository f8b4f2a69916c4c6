package dev.cay.node.runtime;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/// The runc process that works on a bundle. A daemon that was killed leaves it running; its successor must end it
/// before
/// it cleans up, or the container would come into being afterwards.
final class Launcher {
    private final Path file;

    private Launcher(Path file) {
        this.file = file;
    }

    static Launcher of(Bundle bundle) {
        return new Launcher(bundle.directory().resolve("launcher"));
    }

    void remember(long pid) throws IOException {
        var stat = ProcessStat.read(pid);
        if (stat.isPresent()) {
            Files.writeString(file, pid + " " + stat.get().startTime());
        }
    }

    void end() {
        try {
            String[] words = Files.readString(file).split(" ");
            long pid = Long.parseLong(words[0]);
            long startTime = Long.parseLong(words[1]);
            if (ProcessStat.read(pid).filter(stat -> stat.is(startTime)).isPresent()) {
                ProcessHandle.of(pid).ifPresent(ProcessHandle::destroyForcibly);
            }
        } catch (IOException | NumberFormatException | ArrayIndexOutOfBoundsException nothing) {
            // Never started, or killed while it wrote down its number.
        }
    }
}
