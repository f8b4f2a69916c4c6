package dev.cay.node.runtime;

import dev.cay.node.host.Programs;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/// The runc process that works on a bundle. A daemon that was killed leaves it running; its successor must end
/// it before it cleans up, or the container would come into being afterwards.
final class Launcher {
    private static final Duration STEP = Duration.ofMillis(5);
    private static final Duration HURRY_LIMIT = Duration.ofSeconds(5);

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

    /// Waits until it has ended by itself; what takes longer than that is ended.
    void await(Duration limit) {
        long deadline = System.nanoTime() + limit.toNanos();
        while (running().isPresent() && System.nanoTime() < deadline) {
            pause();
        }
        end();
    }

    /// Somebody waits for it now: it and what it started get as much processor time as others.
    void hurry() {
        running().ifPresent(process -> {
            var words = new ArrayList<>(List.of("renice", "-n", "0", "-p"));
            Stream.concat(Stream.of(process), process.descendants())
                    .forEach(each -> words.add(Long.toString(each.pid())));
            Programs.ofHost().run(HURRY_LIMIT, "", words);
        });
    }

    void end() {
        running().ifPresent(ProcessHandle::destroyForcibly);
    }

    static void pause() {
        try {
            Thread.sleep(STEP);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CayException(ErrorKind.CANCELED, "interrupted while a program ended", e);
        }
    }

    private Optional<ProcessHandle> running() {
        try {
            String[] words = Files.readString(file).split(" ");
            long pid = Long.parseLong(words[0]);
            long startTime = Long.parseLong(words[1]);
            return ProcessStat.read(pid).filter(stat -> stat.is(startTime)).flatMap(_ -> ProcessHandle.of(pid));
        } catch (IOException | NumberFormatException | ArrayIndexOutOfBoundsException nothing) {
            // Never started, or killed while it wrote its number.
            return Optional.empty();
        }
    }
}
