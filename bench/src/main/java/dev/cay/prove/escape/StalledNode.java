package dev.cay.prove.escape;

import dev.cay.life.Undo;
import dev.cay.node.host.Programs;
import dev.cay.platform.RemoteSandbox;
import dev.cay.testing.ProbeFile;
import java.io.DataInputStream;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import tools.jackson.databind.json.JsonMapper;

/// Stalling the node: root in a sandbox takes the pipes and terminals of pid 1, makes them block, and has more written
/// to them than they hold. Commands and terminals of another sandbox must go on.
final class StalledNode {
    /// More than the node has threads for this, with those that replace lost ones.
    private static final int MANY = 30;

    /// Long enough for threads that are replaced one after the other to be used up.
    private static final Duration SIEGE = Duration.ofSeconds(45);

    private static final byte[] TOO_MUCH = new byte[256 << 10];
    private static final Duration LIMIT = Duration.ofMinutes(1);
    private static final String WORD = "still here";

    private final URI url;
    private final String key;
    private final Path program;

    /// @param program `cay-probe` on this host, for the control
    StalledNode(URI url, String key, Path program) {
        this.url = url;
        this.key = key;
        this.program = program;
    }

    List<String> check(List<String> failures) throws IOException, InterruptedException {
        control(failures);
        for (boolean terminal : List.of(false, true)) {
            attack(terminal, failures);
        }
        return List.of(
                "Stalls: %d pipes and %d terminals that root inside made block held nobody else up; a pipe end that is shared waits, one opened anew does not."
                        .formatted(MANY, MANY));
    }

    /// What the attack does to somebody who uses what was lent.
    private void control(List<String> failures) throws IOException {
        String said = Programs.ofHost().run(LIMIT, program.toString(), "stall").output();
        if (!said.contains("shared: waits") || !said.contains("opened anew: returns")) {
            failures.add("the control of a stalled pipe said: " + said);
        }
    }

    private void attack(boolean terminal, List<String> failures) throws IOException, InterruptedException {
        try (var closing = new Undo()) {
            var neighbour = closing.add(RemoteSandbox.create(url, key));
            var writers = closing.add(Executors.newVirtualThreadPerTaskExecutor());
            var hostile = closing.add(RemoteSandbox.create(url, key));
            hostile.write(AttackedDaemon.PROGRAM, ProbeFile.bytes());
            hostile.run(List.of("/bin/chmod", "755", AttackedDaemon.PROGRAM));
            var sleepers = new ArrayList<Integer>();
            for (int i = 0; i < MANY; i++) {
                var events = closing.add(start(hostile, "stty raw 2>/dev/null; exec sleep 600", terminal));
                sleepers.add(pid(events));
            }
            String said = blocked(hostile);
            if (!said.matches("blocking ([3-9]\\d|\\d{3})")) {
                failures.add("pid 1's descriptors could not be taken: " + said);
            }
            var over = new AtomicBoolean();
            closing.step(() -> over.set(true));
            sleepers.forEach(pid -> writers.execute(() -> {
                while (!over.get()) {
                    trySend(hostile, pid, terminal, TOO_MUCH);
                }
            }));
            long end = System.nanoTime() + SIEGE.toNanos();
            do {
                answers(neighbour, terminal, failures);
            } while (failures.isEmpty() && System.nanoTime() < end);
        }
    }

    /// With all of them blocking, a guest that copies terminals hangs in its own pipes and may not tell of this end.
    private static String blocked(RemoteSandbox hostile) throws IOException, InterruptedException {
        try (var events = start(hostile, "exec %s stall 1".formatted(AttackedDaemon.PROGRAM), false)) {
            return awaitWord(events, "blocking ").strip();
        }
    }

    private static void answers(RemoteSandbox neighbour, boolean terminal, List<String> failures)
            throws IOException, InterruptedException {
        try (var events = start(neighbour, "read word; echo got $word", terminal)) {
            var answer = CompletableFuture.supplyAsync(() -> {
                try {
                    int pid = pid(events);
                    trySend(neighbour, pid, terminal, (WORD + "\n").getBytes(StandardCharsets.UTF_8));
                    return awaitWord(events, "got " + WORD);
                } catch (IOException e) {
                    return String.valueOf(e.getMessage());
                }
            });
            String said = answer.get(LIMIT.toSeconds(), TimeUnit.SECONDS);
            if (!said.contains("got " + WORD)) {
                failures.add("a neighbour of blocked %s said: %s".formatted(terminal ? "terminals" : "pipes", said));
            }
        } catch (TimeoutException | ExecutionException e) {
            failures.add("a neighbour of blocked %s was held up".formatted(terminal ? "terminals" : "pipes"));
        }
    }

    private static DataInputStream start(RemoteSandbox sandbox, String script, boolean terminal)
            throws IOException, InterruptedException {
        var request = new LinkedHashMap<String, Object>();
        request.put("process", Map.of("cmd", "/bin/sh", "args", List.of("-c", script)));
        if (terminal) {
            request.put("pty", Map.of("size", Map.of("cols", 80, "rows", 24)));
        } else {
            request.put("stdin", true);
        }
        return sandbox.stream("/process.Process/Start", request, Duration.ZERO);
    }

    private static int pid(DataInputStream events) throws IOException {
        return RemoteSandbox.event(events)
                .path("event")
                .path("start")
                .path("pid")
                .asInt();
    }

    /// All that came until the word did, or the end.
    private static String awaitWord(DataInputStream events, String word) throws IOException {
        var text = new StringBuilder();
        while (text.indexOf(word) < 0) {
            var event = RemoteSandbox.event(events).path("event");
            if (event.has("end")) {
                break;
            }
            for (String channel : List.of("stdout", "pty", "stderr")) {
                byte[] data = Base64.getDecoder()
                        .decode(event.path("data").path(channel).asString(""));
                text.append(new String(data, StandardCharsets.UTF_8));
            }
        }
        return text.toString();
    }

    /// Whatever comes of it; the sandbox may be gone.
    private static void trySend(RemoteSandbox sandbox, int pid, boolean terminal, byte[] bytes) {
        var message = Map.of(
                "process",
                Map.of("pid", pid),
                "input",
                Map.of(terminal ? "pty" : "stdin", Base64.getEncoder().encodeToString(bytes)));
        try {
            sandbox.send(
                    "/process.Process/SendInput",
                    "application/json",
                    JsonMapper.shared().writeValueAsBytes(message));
            TimeUnit.MILLISECONDS.sleep(50);
        } catch (IOException e) {
            // Its request ends with the sandbox.
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
