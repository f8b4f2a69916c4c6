package dev.cay.prove.escape;

import java.io.IOException;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardWatchEventKinds;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/// The same race against code that uses path names, to show that the race can be lost, and that losing it is detected.
final class NaiveCalls {
    private static final long LIMIT = TimeUnit.SECONDS.toNanos(20);

    private final Path place;
    private final Trap trap;
    private final String secret;

    NaiveCalls(Path place, Trap trap, String secret) {
        this.place = place;
        this.trap = trap;
        this.secret = secret;
    }

    private interface Work {
        /// Whether it was led outside.
        boolean run(int round) throws IOException, InterruptedException;
    }

    /// Calls that were not led outside in time; none if the proof would notice all of them.
    List<String> unnoticed() throws InterruptedException {
        var missed = new ArrayList<String>();
        lead(missed, "read", _ -> Files.readString(place.resolve("a/f")).contains(secret));
        lead(missed, "stat", _ -> Files.size(place.resolve("a/f")) == Trap.SIZE);
        lead(missed, "list", _ -> {
            try (var names = Files.list(place.resolve("a"))) {
                return names.anyMatch(name -> name.toString().contains(secret));
            }
        });
        lead(missed, "watch", _ -> {
            try (var service = FileSystems.getDefault().newWatchService()) {
                place.resolve("a/noise").register(service, StandardWatchEventKinds.ENTRY_CREATE);
                var key = service.poll(1, TimeUnit.SECONDS);
                return key != null
                        && key.pollEvents().stream()
                                .anyMatch(e -> String.valueOf(e.context()).contains(secret));
            }
        });
        lead(missed, "write", round -> {
            Files.writeString(place.resolve("a/n" + round), "x");
            return Files.exists(trap.directory().resolve("n" + round));
        });
        lead(missed, "makeDir", round -> {
            Files.createDirectory(place.resolve("a/m" + round));
            return Files.exists(trap.directory().resolve("m" + round));
        });
        lead(missed, "move", round -> {
            Path from = Files.writeString(place.resolve("v" + round), "x");
            Files.move(from, place.resolve("a/v" + round));
            return Files.exists(trap.directory().resolve("v" + round));
        });
        lead(missed, "remove", _ -> {
            Files.delete(place.resolve("a/canary-" + secret));
            return true;
        });
        return missed;
    }

    private static void lead(List<String> missed, String name, Work work) throws InterruptedException {
        long end = System.nanoTime() + LIMIT;
        for (int round = 0; System.nanoTime() < end; round++) {
            try {
                if (work.run(round)) {
                    return;
                }
            } catch (IOException | java.io.UncheckedIOException _) {
                // Between the two.
            }
        }
        missed.add(name);
    }
}
