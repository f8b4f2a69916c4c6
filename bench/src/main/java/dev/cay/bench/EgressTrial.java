package dev.cay.bench;

import dev.cay.node.host.Programs;
import dev.cay.platform.OwnCay;
import dev.cay.platform.OwnInternet;
import dev.cay.platform.RemoteSandbox;
import dev.cay.platform.Times;
import java.io.DataInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Base64;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// The part of {@link Egressing} that runs on the host of the {@link OwnInternet}. Prints a line for each
/// figure.
public final class EgressTrial {
    static final String FIGURE = "figure ";

    private static final Duration LIMIT = Duration.ofSeconds(30);
    private static final Duration LIFE = Duration.ofMinutes(30);
    private static final String HOST = "www." + OwnInternet.DOMAIN;
    private static final int WARM_UP = 1000;
    private static final int ROUNDS = 20;
    private static final int EACH = 10;
    private static final int BULKS = 5;
    private static final long BULK = 512L << 20;
    private static final long SHAPED_BULK = 128L << 20;
    private static final int CHANGES = 10;
    private static final int RULES = 1000;
    private static final int CROWD = 200;
    private static final int OWN_RULES = 20;

    /// By what a connection is allowed.
    private enum Way {
        KERNEL("without rules", "{}"),
        ADDRESS("by an address", rules(List.of(OwnInternet.ADDRESS, "203.0.113.0/24"), "")),
        NAME("by a host name", rules(List.of(HOST), "")),
        HEADERS(
                "with headers set",
                rules(
                        List.of(HOST),
                        ",\"rules\":{\"%s\":[{\"transform\":{\"headers\":{\"X-A\":\"b\"}}}]}".formatted(HOST)));

        private final String title;
        private final String network;

        Way(String title, String network) {
            this.title = title;
            this.network = network;
        }
    }

    private final OwnCay cay;
    private final String outside;
    private final Map<Way, RemoteSandbox> sandboxes = new EnumMap<>(Way.class);

    private EgressTrial(OwnCay cay, String outside) {
        this.cay = cay;
        this.outside = outside;
    }

    public static void main(String[] arguments) throws Exception {
        // Each command is two calls, and there are more of them in a minute than a team of people makes.
        try (var cay = OwnCay.start(Map.of("network.nameservers", "8.8.8.8"))) {
            try {
                new EgressTrial(cay, arguments[0]).run();
            } catch (IOException | RuntimeException e) {
                System.out.println(cay.output());
                throw e;
            }
        }
    }

    private void run() throws IOException, InterruptedException {
        for (var way : Way.values()) {
            sandboxes.put(way, sandbox(way.network));
        }
        say("connections");
        connections();
        say("bulk");
        bulk("", BULK, 0.6);
        shape("add");
        say("bulk over a shaped link");
        bulk(" over a link of 1 Gbit/s", SHAPED_BULK, 0.9);
        shape("delete");
        say("many rules");
        manyRules();
        say("changes");
        changes(Way.ADDRESS, rules(List.of(OwnInternet.OTHER), ""));
        changes(Way.NAME, rules(List.of("other." + OwnInternet.DOMAIN), ""));
        say("many sandboxes");
        crowd();
    }

    private static void say(String what) {
        System.out.println("%s %s".formatted(Instant.now(), what));
    }

    private static void tell(Figure figure) {
        System.out.println(FIGURE + JsonMapper.shared().writeValueAsString(figure));
    }

    private RemoteSandbox sandbox(String network) throws IOException, InterruptedException {
        var made = RemoteSandbox.create(cay.url(), cay.key(), LIFE);
        try (var script = Objects.requireNonNull(EgressTrial.class.getResourceAsStream("egress_client.py"))) {
            made.write("/tmp/client.py", script.readAllBytes());
        }
        set(made, network);
        return made;
    }

    private static void set(RemoteSandbox sandbox, String network) throws IOException, InterruptedException {
        var answer = sandbox.api("PUT", "/network", network);
        if (answer.statusCode() != 204) {
            throw new IOException("the rules were answered %d: %s".formatted(answer.statusCode(), answer.body()));
        }
    }

    private static String rules(List<String> allow, String more) {
        String entries = allow.stream().map(entry -> '"' + entry + '"').collect(Collectors.joining(","));
        return "{\"allowOut\":[%s],\"denyOut\":[\"0.0.0.0/0\"]%s}".formatted(entries, more);
    }

    private static List<String> command(String what, Object... arguments) {
        var command = new ArrayList<>(List.of("python3", "/tmp/client.py", what, OwnInternet.ADDRESS, HOST));
        for (Object argument : arguments) {
            command.add(argument.toString());
        }
        return command;
    }

    private static JsonNode ask(RemoteSandbox sandbox, String what, Object... arguments)
            throws IOException, InterruptedException {
        String said = sandbox.run(command(what, arguments)).strip();
        if (said.isEmpty() || !"[0123456789".contains(said.substring(0, 1))) {
            throw new IOException("the client in the sandbox failed: " + said);
        }
        return JsonMapper.shared().readTree(said);
    }

    /// A few connections of each, by turns: what slows the machine down slows all.
    private static <K> Map<K, Times> byTurns(Map<K, RemoteSandbox> clients) throws IOException, InterruptedException {
        Map<K, List<Double>> times =
                clients.keySet().stream().collect(Collectors.toMap(key -> key, _ -> new ArrayList<>()));
        for (int round = 0; round < ROUNDS; round++) {
            for (var client : clients.entrySet()) {
                for (var time : ask(client.getValue(), "connections", EACH)) {
                    Objects.requireNonNull(times.get(client.getKey())).add(time.asDouble());
                }
            }
        }
        return times.entrySet().stream().collect(Collectors.toMap(Map.Entry::getKey, entry -> times(entry.getValue())));
    }

    private static Times times(List<Double> values) {
        return new Times(values.stream().mapToDouble(Double::doubleValue).toArray());
    }

    private void connections() throws IOException, InterruptedException {
        for (var sandbox : sandboxes.values()) {
            ask(sandbox, "connections", WARM_UP);
        }
        var found = byTurns(sandboxes);
        double kernel = p50(found, Way.KERNEL);
        String method =
                "new TLS connection, request and answer; Python inside and outside, by turns, n=" + ROUNDS * EACH;
        for (var way : List.of(Way.ADDRESS, Way.NAME, Way.HEADERS)) {
            double took = p50(found, way);
            tell(Figure.of("egress: new connection %s, p50".formatted(way.title), "ms", took, method)
                    .beside("without rules", kernel));
            var added = Figure.of("egress: added %s, p50".formatted(way.title), "ms", took - kernel, method);
            tell(way == Way.HEADERS ? added.atMost(5) : added.atMost(1));
        }
    }

    private static double p50(Map<Way, Times> found, Way way) {
        return Objects.requireNonNull(found.get(way)).p50();
    }

    private void bulk(String where, long size, double promised) throws IOException, InterruptedException {
        var rates = new EnumMap<Way, List<Double>>(Way.class);
        for (int round = 0; round < BULKS; round++) {
            for (var way : Way.values()) {
                var sandbox = Objects.requireNonNull(sandboxes.get(way));
                rates.computeIfAbsent(way, _ -> new ArrayList<>())
                        .add(ask(sandbox, "bulk", size).asDouble());
            }
        }
        double kernel = times(Objects.requireNonNull(rates.get(Way.KERNEL))).p50();
        String method = "one TLS answer of %d MiB, by turns, p50 of %d".formatted(size >> 20, BULKS);
        for (var way : List.of(Way.ADDRESS, Way.NAME, Way.HEADERS)) {
            var figure = Figure.of(
                            "egress: bulk %s%s".formatted(way.title, where),
                            "MB/s",
                            times(Objects.requireNonNull(rates.get(way))).p50(),
                            method)
                    .beside("without rules", kernel);
            tell(way == Way.HEADERS ? figure : figure.atLeastTimes(promised));
        }
    }

    /// What servers send is shaped; what they get is little.
    private void shape(String verb) {
        var command = new ArrayList<>(List.of("tc", "-n", outside, "qdisc", verb, "dev", "eth0", "root"));
        if (verb.equals("add")) {
            command.addAll(List.of("tbf", "rate", "1gbit", "burst", "256kb", "latency", "20ms"));
        }
        Programs.ofHost().require(LIMIT, "", command);
    }

    private void manyRules() throws IOException, InterruptedException {
        var names = new ArrayList<>(IntStream.range(1, RULES)
                .mapToObj(i -> "name%d.example.org".formatted(i))
                .toList());
        names.add(HOST);
        var addresses = new ArrayList<>(IntStream.range(1, RULES)
                .mapToObj(i -> "203.%d.%d.0/24".formatted(i / 250, i % 250))
                .toList());
        addresses.add(OwnInternet.ADDRESS);
        try (var byName = sandbox(rules(names, ""));
                var byAddress = sandbox(rules(addresses, ""))) {
            compareRules("host names", byName, Way.NAME);
            compareRules("addresses", byAddress, Way.ADDRESS);
        }
    }

    private void compareRules(String by, RemoteSandbox many, Way few) throws IOException, InterruptedException {
        var found = byTurns(Map.of("many", many, "few", Objects.requireNonNull(sandboxes.get(few))));
        double took = Objects.requireNonNull(found.get("many")).p50();
        double before = Objects.requireNonNull(found.get("few")).p50();
        String method = "the last of them allows it; by turns, n=" + ROUNDS * EACH;
        tell(Figure.of("egress: new connection by one of %,d %s, p50".formatted(RULES, by), "ms", took, method)
                .beside(few == Way.NAME ? "by one host name" : "by one of two", before)
                .atMostTimes(1.1));
    }

    private void changes(Way way, String other) throws IOException, InterruptedException {
        var sandbox = Objects.requireNonNull(sandboxes.get(way));
        var cut = new ArrayList<Double>();
        var refused = new ArrayList<Double>();
        var answered = new ArrayList<Double>();
        for (int i = 0; i < CHANGES; i++) {
            try (var events = sandbox.start(command("change"))) {
                awaitReady(events);
                double began = now();
                set(sandbox, other);
                answered.add(1000 * (now() - began));
                var found = JsonMapper.shared().readTree(next(events));
                cut.add(1000 * (found.get("cut").asDouble() - began));
                refused.add(1000 * (found.get("refused").asDouble() - began));
            }
            set(sandbox, way.network);
        }
        String method = "from `PUT /network` on until a client inside sees it; %s, n=%d".formatted(way.title, CHANGES);
        String name = "egress: rules changed → %s, " + way.title + ", p50";
        tell(Figure.of(name.formatted("answered"), "ms", times(answered).p50(), method));
        tell(Figure.of(
                name.formatted("a new connection is refused"),
                "ms",
                times(refused).p50(),
                method));
        tell(Figure.of(
                name.formatted("an open connection is cut"), "ms", times(cut).p50(), method));
    }

    private static double now() {
        var now = Instant.now();
        return now.getEpochSecond() + now.getNano() / 1e9;
    }

    private static void awaitReady(DataInputStream events) throws IOException {
        String said = next(events);
        if (!said.equals("READY")) {
            throw new IOException("the client in the sandbox failed: " + said);
        }
    }

    /// What the program says next.
    private static String next(DataInputStream events) throws IOException {
        while (true) {
            var event = RemoteSandbox.event(events).path("event");
            String data = event.path("data").path("stdout").asString("");
            if (!data.isEmpty()) {
                return new String(Base64.getDecoder().decode(data), StandardCharsets.UTF_8).strip();
            }
            if (event.has("end") || event.path("data").has("stderr")) {
                throw new IOException("the client in the sandbox ended: " + event);
            }
        }
    }

    private void crowd() throws IOException, InterruptedException {
        var names = Objects.requireNonNull(sandboxes.get(Way.NAME));
        var addresses = Objects.requireNonNull(sandboxes.get(Way.ADDRESS));
        var alone = byTurns(Map.of(Way.NAME, names, Way.ADDRESS, addresses));
        var others = new ArrayList<RemoteSandbox>();
        var setting = new ArrayList<Double>();
        try {
            for (int i = 0; i < CROWD; i++) {
                var other = RemoteSandbox.create(cay.url(), cay.key(), LIFE);
                others.add(other);
                double began = now();
                set(other, ownRules(i));
                setting.add(1000 * (now() - began));
            }
            var among = byTurns(Map.of(Way.NAME, names, Way.ADDRESS, addresses));
            String method =
                    "by turns, n=%d; then %d others with %d rules each".formatted(ROUNDS * EACH, CROWD, OWN_RULES);
            for (var way : List.of(Way.ADDRESS, Way.NAME)) {
                tell(Figure.of(
                                "egress: new connection %s among %d sandboxes with rules, p50"
                                        .formatted(way.title, CROWD),
                                "ms",
                                p50(among, way),
                                method)
                        .beside("alone", p50(alone, way)));
            }
            int tenth = CROWD / 10;
            tell(Figure.of(
                            "egress: rules set in the last %d of %d sandboxes, p50".formatted(tenth, CROWD),
                            "ms",
                            times(setting.subList(CROWD - tenth, CROWD)).p50(),
                            "`PUT /network`, %d rules".formatted(OWN_RULES))
                    .beside(
                            "in the first " + tenth,
                            times(setting.subList(0, tenth)).p50()));
        } finally {
            for (var other : others) {
                other.close();
            }
        }
    }

    /// Half of them by name, half by address.
    private static String ownRules(int sandbox) {
        var allow = new ArrayList<String>();
        for (int i = 0; i < OWN_RULES / 2; i++) {
            allow.add("name%d.of%d.example.org".formatted(i, sandbox));
            allow.add("198.51.%d.%d".formatted(i, sandbox));
        }
        return rules(allow, "");
    }
}
