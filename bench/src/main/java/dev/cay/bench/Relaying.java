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
import tools.jackson.databind.json.JsonMapper;

/// MCP servers behind a gateway, beside the same servers on the host, whose clients speak with them by a pipe.
final class Relaying implements Measurement {
    private static final Duration LIMIT = Duration.ofMinutes(15);
    private static final List<Integer> SESSIONS = List.of(1, 8, 32);
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
                var times = Times.of(found.get("gateway"));
                var figure = Figure.of(
                                "tool call through a gateway, %d at a time, p50".formatted(sessions),
                                "ms",
                                times.p50(),
                                "%s, as many sessions with %d calls each".formatted(CLIENT, CALLS))
                        .beside(
                                "on the server's pipe",
                                Times.of(found.get("pipe")).p50());
                figures.add(figure);
                progress.detail("%d sessions: %.1f ms".formatted(sessions, figure.value()));
            }
        }
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
