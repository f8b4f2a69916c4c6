package dev.cay.prove;

import dev.cay.platform.OwnCay;
import dev.cay.prove.HookReceiver.Mood;
import java.io.IOException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// The trials of webhooks on one daemon.
final class HookTrials {
    private static final List<String> STEPS = List.of("webhook-due", "webhook-answered", "webhook-noted");
    private static final int RANDOM_CRASHES = 8;
    private static final int CLIENTS = 3;
    private static final Duration LIMIT = Duration.ofMinutes(2);
    private static final Duration CALL_LIMIT = Duration.ofSeconds(60);

    /// After its last failed attempt an event is tried again within that time.
    private static final Duration CATCH_UP = Duration.ofMinutes(6);

    private static final String EVENTS = """
            ["sandbox.lifecycle.created", "sandbox.lifecycle.updated", "sandbox.lifecycle.paused",
             "sandbox.lifecycle.resumed", "sandbox.lifecycle.killed", "sandbox.lifecycle.checkpointed"]""";

    private final Stage stage;
    private final OwnCay cay;
    private final HookReceiver receiver;
    private final String part;
    private final HttpClient http =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private final List<String> wrong = new ArrayList<>();
    private int crashes;

    HookTrials(Stage stage, OwnCay cay, HookReceiver receiver, String part) {
        this.stage = stage;
        this.cay = cay;
        this.receiver = receiver;
        this.part = part;
    }

    Verdict run() throws Exception {
        try (http) {
            require("POST", "/events/webhooks", """
                    {"name": "proof", "url": "%s", "events": %s, "signatureSecret": "%s"}
                    """.formatted(receiver.url(), EVENTS, HookReceiver.SECRET));
            for (String step : STEPS) {
                crashAt(step);
            }
            for (var mood : List.of(Mood.FAILING, Mood.HANGING, Mood.BREAKING)) {
                crashWhile(mood);
            }
            crashAtRandom();
            judge();
        }
        return new Verdict(
                wrong.isEmpty(),
                "%s: %d kills of the daemon, %d events arrived, %d requests refused before, %d wrong"
                        .formatted(
                                part,
                                crashes,
                                receiver.taken().stream()
                                        .map(HookReceiver.Taken::id)
                                        .distinct()
                                        .count(),
                                receiver.refused(),
                                wrong.size()),
                wrong);
    }

    /// The daemon dies at a step of the delivery of one of a few events.
    private void crashAt(String step) throws Exception {
        Faults.CRASH.arm(cay, step);
        try {
            var client = Thread.startVirtualThread(this::life);
            BuildWorld.await("the step " + step, LIMIT, () -> !cay.daemon().isAlive());
            client.join(LIMIT);
        } finally {
            Faults.clear(cay, step);
            startAgain("at " + step);
        }
        life();
    }

    private void crashWhile(Mood mood) throws Exception {
        receiver.be(mood);
        int before = receiver.refused();
        life();
        BuildWorld.await("a refused request", LIMIT, () -> receiver.refused() > before);
        Thread.sleep(ThreadLocalRandom.current().nextInt(0, 3000));
        cay.crash();
        startAgain("while the receiver is " + mood);
        life();
        receiver.be(Mood.WELL);
    }

    /// Clients go on while the daemon is killed and the receiver changes its mood.
    private void crashAtRandom() throws Exception {
        var end = new AtomicBoolean();
        var clients = new ArrayList<Thread>();
        for (int i = 0; i < CLIENTS; i++) {
            clients.add(Thread.startVirtualThread(() -> {
                while (!end.get()) {
                    life();
                }
            }));
        }
        for (int i = 0; i < RANDOM_CRASHES; i++) {
            receiver.be(Mood.values()[i % Mood.values().length]);
            Thread.sleep(ThreadLocalRandom.current().nextInt(500, 4000));
            cay.crash();
            startAgain("at random");
        }
        receiver.be(Mood.WELL);
        end.set(true);
        for (var client : clients) {
            client.join(LIMIT);
        }
    }

    private void startAgain(String when) throws IOException, InterruptedException {
        crashes++;
        stage.say("%s: kill %d, %s; %d taken, %d refused"
                .formatted(part, crashes, when, receiver.taken().size(), receiver.refused()));
        cay.startAgain();
    }

    /// What happens to a sandbox; any of it may be cut off.
    private void life() {
        try {
            var made = call("POST", "/v2/sandboxes", "{\"templateID\":\"base\",\"timeout\":600}");
            String id = made.path("sandboxID").asString("");
            if (id.isEmpty()) {
                Thread.sleep(200);
                return;
            }
            call("POST", "/sandboxes/" + id + "/timeout", "{\"timeout\":500}");
            call("POST", "/sandboxes/" + id + "/timeout", "{\"timeout\":400}");
            call("DELETE", "/sandboxes/" + id, "");
        } catch (IOException _) {
            // The daemon is being killed: what was acknowledged is looked at in the end.
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private JsonNode call(String method, String path, String body) throws IOException, InterruptedException {
        var request = HttpRequest.newBuilder(cay.url().resolve(path))
                .timeout(CALL_LIMIT)
                .header("X-API-Key", cay.key())
                .method(method, body.isEmpty() ? BodyPublishers.noBody() : BodyPublishers.ofString(body))
                .build();
        String text = http.send(request, BodyHandlers.ofString()).body();
        return text.isEmpty()
                ? JsonMapper.shared().createObjectNode()
                : JsonMapper.shared().readTree(text);
    }

    private JsonNode require(String method, String path, String body) throws IOException, InterruptedException {
        var answer = call(method, path, body);
        if (answer.has("code")) {
            throw new IllegalStateException("%s %s: %s".formatted(method, path, answer));
        }
        return answer;
    }

    /// All events there are, oldest first, as ids by sandbox.
    private Map<String, List<String>> events() throws IOException, InterruptedException {
        var all = new HashMap<String, List<String>>();
        for (int offset = 0; ; offset += 100) {
            var page = require("GET", "/events/sandboxes?orderAsc=true&limit=100&offset=" + offset, "");
            for (var event : page) {
                all.computeIfAbsent(event.path("sandboxId").asString(""), _ -> new ArrayList<>())
                        .add(event.path("id").asString(""));
            }
            if (page.size() < 100) {
                return all;
            }
        }
    }

    private void judge() throws Exception {
        stage.say(part + ": waiting for all events");
        endSandboxes();
        var events = events();
        long end = System.nanoTime() + CATCH_UP.toNanos();
        while (!missing(events).isEmpty() && System.nanoTime() < end) {
            Thread.sleep(500);
        }
        missing(events).forEach(id -> wrong.add("event %s did not arrive".formatted(id)));
        // Nothing may follow that did not happen.
        Thread.sleep(2000);
        wrong.addAll(receiver.wrong());
        checkOrder(events());
    }

    private void endSandboxes() throws IOException, InterruptedException {
        for (var sandbox : require("GET", "/v2/sandboxes?limit=100", "")) {
            call("DELETE", "/sandboxes/" + sandbox.path("sandboxID").asString(""), "");
        }
    }

    private List<String> missing(Map<String, List<String>> events) {
        var taken = new HashSet<String>();
        receiver.taken().forEach(one -> taken.add(one.id()));
        return events.values().stream()
                .flatMap(List::stream)
                .filter(id -> !taken.contains(id))
                .toList();
    }

    /// An event may arrive twice, but none after a later one of its sandbox.
    private void checkOrder(Map<String, List<String>> events) {
        var places = new HashMap<String, Integer>();
        for (var one : receiver.taken()) {
            int place = events.getOrDefault(one.sandbox(), List.of()).indexOf(one.id());
            if (place < 0) {
                wrong.add("event %s arrived and never happened".formatted(one.id()));
            } else if (place < places.getOrDefault(one.sandbox(), 0)) {
                wrong.add("event %s of %s arrived after a later one".formatted(one.id(), one.sandbox()));
            }
            places.merge(one.sandbox(), place, Math::max);
        }
    }
}
