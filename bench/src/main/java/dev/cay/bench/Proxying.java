package dev.cay.bench;

import dev.cay.life.Progress;
import dev.cay.platform.OwnCay;
import dev.cay.platform.Script;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import tools.jackson.databind.JsonNode;

/// Requests to a server in a sandbox by its port's URL, beside the same requests straight to such a server on the host.
final class Proxying implements Measurement {
    private static final Duration LIMIT = Duration.ofMinutes(5);
    private static final String METHOD =
            "Node's HTTP client, keep-alive, Node's HTTP server in the sandbox; direct: the same one on the host";

    @Override
    public String name() {
        return "proxy";
    }

    @Override
    public List<Figure> run(Progress progress) throws Exception {
        try (var cay = OwnCay.start(Map.of());
                var script = Script.start(cay, Proxying.class, "proxy.mjs")) {
            var found = script.next(LIMIT);
            var figures = new ArrayList<Figure>();
            figures.add(added("p50", found.get("small1")).atMost(0.5));
            figures.add(added("p99", found.get("small1")));
            figures.add(rate("small JSON, 1 connection", found.get("small1")).atLeastTimes(0.5));
            figures.add(rate("small JSON, 8 connections", found.get("small8")).atLeastTimes(0.65));
            figures.add(rate("small JSON, 64 connections", found.get("small64")));
            figures.add(rate("1 MiB bodies, 1 connection", found.get("large1")).atLeastTimes(0.4));
            figures.add(rate("1 MiB bodies, 8 connections", found.get("large8")));
            figures.add(rate("1 MiB bodies, 64 connections", found.get("large64")));
            return figures;
        }
    }

    private static Figure added(String part, JsonNode found) {
        double proxied = found.get("proxied").get(part).asDouble();
        double direct = found.get("direct").get(part).asDouble();
        return Figure.of("port URL: added " + part + " of a small request", "ms", proxied - direct, METHOD);
    }

    private static Figure rate(String what, JsonNode found) {
        return Figure.of(
                        "port URL: " + what,
                        "req/s",
                        found.get("proxied").get("rate").asDouble(),
                        METHOD)
                .beside("direct", found.get("direct").get("rate").asDouble());
    }
}
