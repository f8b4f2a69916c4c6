package dev.cay.prove;

import dev.cay.platform.OwnCay;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import tools.jackson.databind.JsonNode;

/// What the clients of `crash.mjs` tell when they have finished.
///
/// @param found as the script said it
record CrashFindings(JsonNode found) {
    private static final Duration SETTLE_LIMIT = Duration.ofSeconds(20);

    int created() {
        return found.get("created").asInt();
    }

    long numbers() {
        return found.get("numbers").asLong();
    }

    /// What they miss, or find twice.
    List<String> lost(OwnCay cay) throws IOException, InterruptedException {
        var wrong = new ArrayList<String>();
        found.get("wrong").forEach(line -> wrong.add(line.asString()));
        var listed = new HashSet<String>();
        found.get("listed").forEach(id -> listed.add(id.asString()));
        Set<String> containers = settledContainers(cay, listed);
        if (!containers.equals(listed)) {
            wrong.add("runc has %s, the API lists %s".formatted(containers, listed));
        }
        return wrong;
    }

    /// How much they did.
    List<String> details() {
        return new ArrayList<>(List.of(
                "numbers checked: " + numbers(),
                "creates acknowledged: " + created() + ", refused or cut by a crash: "
                        + found.get("failed").asInt(),
                "file writes acknowledged: " + found.get("written").asInt(),
                "streams of the unmodified client that lost or repeated something at a cut: "
                        + found.get("clientBreaks").asInt()));
    }

    /// A sandbox whose time was over a moment ago is in no list any more, and its container is being removed.
    private static Set<String> settledContainers(OwnCay cay, Set<String> listed)
            throws IOException, InterruptedException {
        long end = System.nanoTime() + SETTLE_LIMIT.toNanos();
        var containers = Traces.of(cay).containers();
        while (!containers.equals(listed) && System.nanoTime() < end) {
            Thread.sleep(500);
            containers = Traces.of(cay).containers();
        }
        return containers;
    }
}
