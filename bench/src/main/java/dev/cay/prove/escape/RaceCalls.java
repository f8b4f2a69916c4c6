package dev.cay.prove.escape;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.cay.platform.RemoteSandbox;
import java.io.DataInputStream;
import java.io.IOException;
import java.net.URLEncoder;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import tools.jackson.databind.json.JsonMapper;

/// Every call on files, repeated in a directory where everything is exchanged meanwhile. Checks each answer for content
/// that can only come from outside. Several threads may use one.
final class RaceCalls {
    private static final Duration WATCH = Duration.ofSeconds(2);
    private static final String OCTETS = "application/octet-stream";

    /// How often a call was made, and how often it succeeded.
    record Tally(long made, long done) {
        Tally plus(boolean success) {
            return new Tally(made + 1, done + (success ? 1 : 0));
        }
    }

    private record Answer(int status, String body) {}

    private interface Work {
        Answer run(String place) throws IOException, InterruptedException;
    }

    private final RemoteSandbox sandbox;
    private final String secret;
    private final List<String> places;
    private final Consumer<String> leaks;
    private final ConcurrentSkipListMap<String, Tally> tallies = new ConcurrentSkipListMap<>();
    private final Map<String, Work> work = Map.ofEntries(
            Map.entry("read", place -> read(pick(place, "a/f", "a/s/f", "b/f", "a/t/f", "a/whole"))),
            Map.entry("write", place -> write(pick(place, "a/f", "a/s/f", "a/n" + number(), "b/n", "a/d/e/n"))),
            Map.entry("multipart", this::multipart),
            Map.entry("compose", this::compose),
            Map.entry("stat", place -> call("Stat", Map.of("path", pick(place, "a", "a/f", "a/t", "a/s/f", "b/f")))),
            Map.entry("list", place -> call("ListDir", Map.of("path", pick(place, "a", "a/s", "b", ""), "depth", 4))),
            Map.entry("makeDir", place -> call("MakeDir", Map.of("path", pick(place, "a/m" + number() + "/x", "b/m")))),
            Map.entry("move", this::move),
            Map.entry("remove", this::remove),
            Map.entry("watch", this::watch),
            Map.entry("watcher", this::watcher));

    /// @param leaks gets everything that came from outside
    RaceCalls(RemoteSandbox sandbox, String secret, List<String> places, Consumer<String> leaks) {
        this.sandbox = sandbox;
        this.secret = secret;
        this.places = places;
        this.leaks = leaks;
    }

    Map<String, Tally> tallies() {
        return tallies;
    }

    void run(long seconds) throws InterruptedException {
        var names = List.copyOf(work.keySet());
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
        while (System.nanoTime() < end) {
            String name = names.get(number() % names.size());
            var answer = ask(Objects.requireNonNull(work.get(name)), places.get(number() % places.size()));
            tallies.merge(name, new Tally(1, answer.status == 200 ? 1 : 0), (old, _) -> old.plus(answer.status == 200));
            look(name, answer);
        }
    }

    /// A file that becomes shorter while it is sent cuts its answer: a client must not take it for the whole.
    private static Answer ask(Work work, String place) throws InterruptedException {
        try {
            return work.run(place);
        } catch (IOException e) {
            return new Answer(0, "");
        }
    }

    private void look(String name, Answer answer) {
        if (answer.body.contains(secret) || answer.body.contains("\"size\":\"" + Trap.SIZE + "\"")) {
            leaks.accept("%s told of the outside: %s".formatted(name, answer.body));
        }
        if (answer.body.contains("error id")) {
            leaks.accept("%s met what nobody thought of: %s".formatted(name, answer.body));
        }
    }

    private static int number() {
        return ThreadLocalRandom.current().nextInt(1 << 20);
    }

    private static String pick(String place, String... below) {
        return place + "/" + below[number() % below.length];
    }

    private Answer read(String path) throws IOException, InterruptedException {
        var answer = sandbox.read(path);
        return new Answer(answer.statusCode(), new String(answer.body(), UTF_8));
    }

    private Answer write(String path) throws IOException, InterruptedException {
        var answer = sandbox.tryWrite(path, "written from outside".getBytes(UTF_8));
        return new Answer(answer.statusCode(), new String(answer.body(), UTF_8));
    }

    private Answer call(String method, Map<String, ?> message) throws IOException, InterruptedException {
        var answer = sandbox.fileCall(method, message);
        return new Answer(answer.statusCode(), answer.body());
    }

    private Answer post(String target, String type, String body) throws IOException, InterruptedException {
        var answer = sandbox.send(target, type, body.getBytes(UTF_8));
        return new Answer(answer.statusCode(), answer.body());
    }

    private Answer multipart(String place) throws IOException, InterruptedException {
        var body = new StringBuilder();
        for (String path : List.of(pick(place, "a/u", "b/u"), pick(place, "a/s/u", "a/t/u"))) {
            body.append("--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"%s\"\r\n\r\npart\r\n"
                    .formatted(path));
        }
        return post("/files?username=root", "multipart/form-data; boundary=x", body + "--x--\r\n");
    }

    private Answer compose(String place) throws IOException, InterruptedException {
        String source = pick(place, "a/piece", "a/s/piece");
        sandbox.send("/files?username=root&path=" + URLEncoder.encode(source, UTF_8), OCTETS, new byte[] {'x'});
        var request = Map.of(
                "source_paths", List.of(source, pick(place, "a/f", "b/f", "a/t/f")),
                "destination", pick(place, "a/whole", "b/whole", "a/s/whole"),
                "username", "root");
        return post("/files/compose", "application/json", JsonMapper.shared().writeValueAsString(request));
    }

    private Answer move(String place) throws IOException, InterruptedException {
        String from = pick(place, "a/f", "a/s/f", "b/f", "a/u");
        return call("Move", Map.of("source", from, "destination", pick(place, "a/v" + number(), "b/v", "a/t/v")));
    }

    /// Now and then all of it, with everything in motion.
    private Answer remove(String place) throws IOException, InterruptedException {
        String path = number() % 50 == 0 ? place : pick(place, "a/u", "a/s/f", "a/m", "b/f", "a/t/f", "a/d", "a/s");
        return call("Remove", Map.of("path", path));
    }

    /// Of the whole place more is heard at once: everything moves there.
    private Answer watch(String place) throws IOException, InterruptedException {
        String path = pick(place, "a", "b", "a/s", "");
        int wanted = path.equals(place + "/") ? 20 : 1;
        var wish = Map.of("path", path, "recursive", true, "includeEntry", true);
        var told = new StringBuilder();
        try (DataInputStream events = sandbox.stream("/filesystem.Filesystem/WatchDir", wish, WATCH)) {
            for (int i = 0; i < wanted; i++) {
                boolean end = events.readByte() == 2;
                told.append(new String(events.readNBytes(events.readInt()), UTF_8));
                if (end) {
                    return new Answer(i == 0 ? 404 : 200, told.toString());
                }
                if (i == 0) {
                    write(place + "/a/w" + number());
                }
            }
        }
        return new Answer(200, told.toString());
    }

    private Answer watcher(String place) throws IOException, InterruptedException {
        var made = call("CreateWatcher", Map.of("path", pick(place, "a", "b", ""), "recursive", true));
        if (made.status != 200) {
            return made;
        }
        String id = made.body.replace("watcherId", "watcher_id");
        TimeUnit.MILLISECONDS.sleep(50);
        var told = post("/filesystem.Filesystem/GetWatcherEvents", "application/json", id);
        post("/filesystem.Filesystem/RemoveWatcher", "application/json", id);
        return told;
    }
}
