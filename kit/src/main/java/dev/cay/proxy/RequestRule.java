package dev.cay.proxy;

import dev.cay.http.Exchange;
import dev.cay.wire.SandboxId;
import dev.cay.wire.node.Egress;
import dev.cay.wire.node.Egress.Place;
import dev.cay.wire.node.Placeholders;
import java.util.Collection;
import java.util.HashSet;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/// Applies an egress rule to a request of a sandbox: sets headers, and replaces placeholders by secrets. The values are
/// then removed from the answer; see {@link LastHop#strike}.
public final class RequestRule {
    /// Headers by which a server may send an answer in a form in which no value is found.
    private static final Set<String> COMPRESSION = Set.of("sec-websocket-extensions", "grpc-accept-encoding");

    /// Headers of the connection, and those that say where a request begins and ends.
    private static final Set<String> NEVER_FILLED = Set.of(
            "host",
            "connection",
            "content-length",
            "transfer-encoding",
            "keep-alive",
            "te",
            "trailer",
            "upgrade",
            "expect");

    private RequestRule() {}

    /// @param host that gets the request
    /// @throws Placeholders.Unknown when a header of the rule needs a value that cannot be had: nothing may be sent
    public static void apply(
            Exchange exchange, Egress.Transform rule, Placeholders placeholders, SandboxId sandbox, String host)
            throws Placeholders.Unknown {
        var headers = new TreeMap<String, String>(String.CASE_INSENSITIVE_ORDER);
        var secrets = new HashSet<String>();
        var mark = placeholders.mark(host);
        boolean carries = false;
        for (var header : rule.headers().entrySet()) {
            String filled = placeholders.fill(header.getValue(), sandbox, host, secrets::add);
            headers.put(header.getKey(), Filling.inText(filled));
            carries |= !filled.equals(header.getValue());
        }
        var fill = rule.fill();
        if (fill != null) {
            var filling = new Filling(placeholders, sandbox, host, fill);
            fillHead(exchange, headers, filling, fill.places());
            if (fill.places().contains(Place.BODY)) {
                LastHop.fillBody(exchange, sandbox, body -> fillBody(exchange, body, filling, mark));
            }
            secrets.addAll(filling.sent());
            carries |= !filling.sent().isEmpty();
        }
        LastHop.setHeaders(exchange, headers);
        mark(exchange, carries, mark);
        protect(exchange, secrets);
    }

    private static void fillHead(Exchange exchange, Map<String, String> headers, Filling filling, Set<Place> places) {
        if (places.contains(Place.HEADERS)) {
            var changed = new HashSet<String>();
            var own = new TreeMap<String, String>(String.CASE_INSENSITIVE_ORDER);
            for (var header : exchange.headers()) {
                String name = header.getKey().toLowerCase(Locale.ROOT);
                String filled = filling.header(header.getValue());
                if (!filled.equals(header.getValue())) {
                    changed.add(name);
                }
                own.merge(name, filled, (one, more) -> one + (name.equals("cookie") ? "; " : ", ") + more);
            }
            changed.removeAll(NEVER_FILLED);
            changed.forEach(name -> headers.putIfAbsent(name, Objects.requireNonNull(own.get(name))));
        }
        if (places.contains(Place.QUERY)) {
            String target = exchange.request().getHttpURI().getPathQuery();
            if (target != null) {
                LastHop.setTarget(exchange, filling.query(target));
            }
        }
    }

    private static byte[] fillBody(Exchange exchange, byte[] body, Filling filling, Optional<String> mark) {
        String type = exchange.header("Content-Type");
        byte[] filled = filling.body(type == null ? "" : type, body);
        protect(exchange, filling.sent());
        mark(exchange, !filling.sent().isEmpty(), mark);
        return filled;
    }

    /// Says in the request that a value is in it. What the sandbox says there is left out: a proxy on the way could
    /// drop a header that is not well formed.
    private static void mark(Exchange exchange, boolean carries, Optional<String> mark) {
        if (carries) {
            mark.ifPresent(value -> LastHop.setHeaders(exchange, Map.of(Placeholders.MARK, value)));
        }
    }

    /// A server that repeats a secret must not tell it to the sandbox.
    private static void protect(Exchange exchange, Collection<String> secrets) {
        if (secrets.isEmpty()) {
            return;
        }
        var forms = new HashSet<String>();
        for (String secret : secrets) {
            forms.addAll(WrittenForms.of(secret));
            // Many servers take the bytes of a header for Latin-1, and repeat them as such.
            forms.addAll(WrittenForms.of(Filling.inText(secret)));
        }
        LastHop.strike(exchange, forms);
        LastHop.setHeaders(exchange, Map.of("Accept-Encoding", "identity"));
        WithheldHeaders.headers(exchange, COMPRESSION);
        String upgrade = exchange.header("Upgrade");
        if (upgrade != null && !upgrade.strip().equalsIgnoreCase("websocket")) {
            WithheldHeaders.headers(exchange, Set.of("upgrade"));
        }
    }
}
