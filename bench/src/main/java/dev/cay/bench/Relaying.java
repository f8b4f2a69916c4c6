package dev.cay.bench;

import dev.cay.life.Progress;
import dev.cay.life.Trees;
import dev.cay.platform.Agents;
import dev.cay.platform.NpmServer;
import dev.cay.platform.OwnCay;
import dev.cay.platform.Times;
import java.nio.file.Files;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// MCP servers behind a gateway, beside the same servers on the host, whose clients speak with them by a pipe or by
/// HTTP.
///
/// Two clients call the servers. The official one is what people use, and takes more of a call's time over HTTP
/// than the gateway does. The bare one only writes and reads bytes, so that its times are those of the gateway.
final class Relaying implements Measurement {
    private static final Duration LIMIT = Duration.ofMinutes(15);
    private static final int LARGEST = 32;
    private static final List<Integer> SESSIONS = List.of(1, 8, LARGEST);
    private static final double MOST_ADDED = 1;
    private static final double MOST_TIMES = 3;
    private static final int CALLS = 500;
    private static final int STARTS = 7;
    private static final int AGENTS = 10;
    private static final int CALLS_AT_ONCE = 100;
    private static final String CLIENT = "JS client of MCP without TLS";

    @Override
    public String name() {
        return "gateway";
    }

    @Override
    public List<Figure> run(Progress progress) throws Exception {
        var directory = Files.createTempDirectory("cay-relaying-");
        try (var cay = OwnCay.start(Agents.settings(directory, NpmServer.ALL))) {
            cay.awaitTemplate("mcp-gateway");
            var figures = new ArrayList<Figure>();
            var server = JsonMapper.shared()
                    .writeValueAsString(List.of("node", Agents.server(directory).toString()));
            calls(cay, server, figures, progress);
            starts(cay, figures, progress);
            crowd(cay, server, figures);
            return figures;
        } finally {
            Trees.delete(directory);
        }
    }

    private static void calls(OwnCay cay, String server, List<Figure> figures, Progress progress) throws Exception {
        var arguments = new ArrayList<Object>(List.of("calls", server, CALLS));
        arguments.addAll(SESSIONS);
        try (var script = Agents.script(cay, arguments.toArray())) {
            for (int sessions : SESSIONS) {
                var found = script.next(LIMIT);
                String each = "as many sessions with %d calls each".formatted(CALLS);
                String official = "%s, %s".formatted(CLIENT, each);
                double gateway = p50(found, "gateway");
                String name = "tool call through a gateway, %d at a time, p50".formatted(sessions);
                figures.add(
                        Figure.of(name, "ms", gateway, official).beside("on the server's pipe", p50(found, "pipe")));
                figures.add(Figure.of(name, "ms", gateway, official)
                        .beside("at the server's own HTTP port", p50(found, "http")));
                var added = Figure.of(
                        "added by the gateway to a call over HTTP, %d at a time, p50".formatted(sessions),
                        "ms",
                        gateway - p50(found, "http"),
                        official);
                figures.add(sessions == 1 ? added.atMost(MOST_ADDED) : added);
                var bare =
                        Figure.of(name, "ms", p50(found, "bareGateway"), "client that only writes and reads, " + each);
                figures.add(bare.beside("at the server's own HTTP port", p50(found, "bareHttp")));
                var ratio = bare.beside("on the server's pipe", p50(found, "barePipe"));
                figures.add(sessions == LARGEST ? ratio.atMostTimes(MOST_TIMES) : ratio);
                progress.detail("%d sessions: %.1f ms".formatted(sessions, gateway));
            }
        }
    }

    private static double p50(JsonNode found, String way) {
        return Times.of(found.get(way)).p50();
    }

    private static void starts(OwnCay cay, List<Figure> figures, Progress progress) throws Exception {
        var programs = JsonMapper.shared().createObjectNode();
        for (var server : NpmServer.ALL) {
            programs.put(server.key(), server.onHost().toString());
        }
        try (var script = Agents.script(cay, "starts", programs, STARTS)) {
            for (int i = 0; i < 2; i++) {
                var found = script.next(LIMIT);
                var figure = Figure.of(
                                "npm servers started until their tools are listed, %d at once, p50"
                                        .formatted(found.get("servers").asInt()),
                                "ms",
                                Times.of(found.get("gateway")).p50(),
                                "`mcp-gateway` in a sandbox that runs, then %s; fetched before, n=%d"
                                        .formatted(CLIENT, STARTS))
                        .beside(
                                "the same on the host",
                                Times.of(found.get("host")).p50());
                figures.add(figure);
                progress.detail("%s: %.0f ms".formatted(figure.name(), figure.value()));
            }
        }
    }

    private static void crowd(OwnCay cay, String server, List<Figure> figures) throws Exception {
        Times alone;
        try (var script = Agents.script(cay, "alone", server, AGENTS)) {
            alone = Times.of(script.next(LIMIT).get("memory"));
        }
        try (var agents = Agents.gather(cay, AGENTS, CALLS_AT_ONCE, Duration.ZERO)) {
            figures.add(Figure.of(
                            "memory of a server's sandbox, p50",
                            "MB",
                            agents.memory().p50(),
                            "private pages of all its processes, n=%d"
                                    .formatted(agents.memory().count()))
                    .beside("the process on the host", alone.p50()));
            var answers = agents.call();
            figures.add(Figure.of(
                    "%d agents × %d calls at once".formatted(AGENTS, CALLS_AT_ONCE),
                    "s",
                    answers.seconds(),
                    "%s, a gateway each; %d failed"
                            .formatted(CLIENT, answers.failures().size())));
            agents.kill();
        }
    }
}
