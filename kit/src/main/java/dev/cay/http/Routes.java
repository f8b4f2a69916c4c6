package dev.cay.http;

import dev.cay.metrics.Meters;
import dev.cay.metrics.Tally;
import dev.cay.metrics.Timing;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/// Finds the handler for a method and path. Path parts are compared decoded, but split before decoding, so
/// `%2F` is data.
///
/// A known path with another method answers 405 with `Allow`; an unknown one 404. Both as JSON errors. `HEAD` is
/// answered by the handler of `GET` where it has none of its own.
public final class Routes implements Handler {
    private final Node root = new Node();

    /// One part of a path: the parts that may follow it, and the handlers of a path that ends here.
    private static final class Node {
        final Map<String, Node> literals = new HashMap<>();
        final Map<String, Handler> methods = new TreeMap<>();
        final Map<String, List<String>> names = new HashMap<>();
        String path = "";

        @Nullable
        Node parameter;
    }

    private @Nullable Tally requests;
    private @Nullable Timing times;

    private record Match(Node node, List<String> values) {}

    /// `path` like `/sandboxes/{sandboxID}/timeout`; a literal part wins over a parameter.
    public Routes on(String method, String path, Handler handler) {
        Node node = root;
        var names = new ArrayList<String>();
        for (String part : split(path)) {
            if (part.startsWith("{") && part.endsWith("}")) {
                names.add(part.substring(1, part.length() - 1));
                if (node.parameter == null) {
                    node.parameter = new Node();
                }
                node = node.parameter;
            } else {
                node = node.literals.computeIfAbsent(part, _ -> new Node());
            }
        }
        if (node.methods.put(method, handler) != null) {
            throw new IllegalArgumentException("two handlers for " + method + " " + path);
        }
        node.names.put(method, List.copyOf(names));
        node.path = path;
        return this;
    }

    /// One method at one path.
    ///
    /// @param path like `/sandboxes/{sandboxID}`
    public record Route(String method, String path) {}

    /// All routes.
    public List<Route> table() {
        var table = new ArrayList<Route>();
        collect(root, table);
        return table;
    }

    private static void collect(Node node, List<Route> table) {
        node.methods.keySet().forEach(method -> table.add(new Route(method, node.path)));
        node.literals.values().forEach(next -> collect(next, table));
        if (node.parameter != null) {
            collect(node.parameter, table);
        }
    }

    /// Counts requests from now on, by route.
    public Routes measured(Meters meters) {
        requests = meters.tally("cay_api_requests_total", "Requests to the API", "route", "method", "status");
        times = meters.timing("cay_api_seconds", "How long requests to the API took", "route", "method");
        return this;
    }

    /// Whether some method is served at this raw path.
    public boolean knows(String path) {
        return find(path) != null;
    }

    @Override
    public void handle(Exchange exchange) throws Exception {
        Match match = find(exchange.path());
        if (match == null) {
            ErrorRenderer.send(exchange, 404, "no such path: " + exchange.path());
            return;
        }
        Node node = match.node;
        String method = exchange.method();
        if (method.equals("HEAD") && !node.methods.containsKey("HEAD")) {
            method = "GET";
        }
        Handler handler = node.methods.get(method);
        if (handler == null) {
            exchange.with("Allow", String.join(", ", new TreeSet<>(node.methods.keySet())));
            ErrorRenderer.send(exchange, 405, "method " + exchange.method() + " is not allowed here");
            return;
        }
        var parameters = new HashMap<String, String>();
        List<String> names = node.names.getOrDefault(method, List.of());
        for (int i = 0; i < names.size(); i++) {
            parameters.put(names.get(i), match.values.get(i));
        }
        exchange.matched(node.path, parameters);
        if (requests == null || times == null) {
            handler.handle(exchange);
            return;
        }
        int status = 500;
        long began = System.nanoTime();
        try {
            handler.handle(exchange);
            status = exchange.status();
        } catch (Exception e) {
            status = ErrorRenderer.status(e);
            throw e;
        } finally {
            requests.count(node.path, method, Integer.toString(status));
            times.since(began, node.path, method);
        }
    }

    private @Nullable Match find(String path) {
        return find(root, split(path), 0, List.of());
    }

    private static @Nullable Match find(Node node, List<String> parts, int index, List<String> values) {
        if (index == parts.size()) {
            return node.methods.isEmpty() ? null : new Match(node, values);
        }
        String part = QueryString.decodePath(parts.get(index));
        Node literal = node.literals.get(part);
        if (literal != null) {
            Match match = find(literal, parts, index + 1, values);
            if (match != null) {
                return match;
            }
        }
        if (node.parameter == null || part.isEmpty()) {
            return null;
        }
        var longer = new ArrayList<>(values);
        longer.add(part);
        return find(node.parameter, parts, index + 1, longer);
    }

    /// A slash at the end means nothing, as clients are careless about it.
    private static List<String> split(String path) {
        String inner = path.startsWith("/") ? path.substring(1) : path;
        if (inner.endsWith("/")) {
            inner = inner.substring(0, inner.length() - 1);
        }
        return inner.isEmpty() ? List.of() : List.of(inner.split("/", -1));
    }
}
