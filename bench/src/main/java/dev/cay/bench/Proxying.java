package dev.cay.bench;

import dev.cay.life.Progress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import tools.jackson.databind.JsonNode;

/// Requests to a server in a sandbox by its port's URL, beside the same requests straight to its address.
final class Proxying implements Measurement {
    private static final Duration LIMIT = Duration.ofMinutes(5);

    @Override
    public String name() {
        return "proxy";
    }

    @Override
    public List<Figure> run(Progress progress) throws Exception {
        try (var cay = OwnCay.start(Map.of());
                var script =
                        Script.start(NpmClient.e2b(), cay.environment(OwnCay.Mode.URL), Proxying.class, "proxy.mjs")) {
            var found = script.next(LIMIT);
            var figures = new ArrayList<Figure>();
            String method = "Node's HTTP client, keep-alive, Node's HTTP server in the sandbox";
            double added = found.get("small1").get("proxied").get("p50").asDouble()
                    - found.get("small1").get("direct").get("p50").asDouble();
            figures.add(Figure.of("port URL: added p50 of a small request", "ms", added, method)
                    .atMost(0.5));
            figures.add(rate("small JSON, 1 connection", found.get("small1"), method)
                    .atLeastTimes(0.1));
            figures.add(rate("small JSON, 8 connections", found.get("small8"), method)
                    .atLeastTimes(0.3));
            figures.add(rate("1 MiB bodies, 1 connection", found.get("large1"), method)
                    .atLeastTimes(0.4));
            return figures;
        }
    }

    private static Figure rate(String what, JsonNode found, String method) {
        return Figure.of(
                        "port URL: " + what,
                        "req/s",
                        found.get("proxied").get("rate").asDouble(),
                        method)
                .beside("direct", found.get("direct").get("rate").asDouble());
    }
}
