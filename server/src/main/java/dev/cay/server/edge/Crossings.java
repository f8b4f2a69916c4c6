package dev.cay.server.edge;

import dev.cay.http.Exchange;
import dev.cay.http.PageOrJson;
import dev.cay.server.sandbox.SandboxDirectory;
import dev.cay.server.sandbox.SandboxRecord;
import dev.cay.wire.EdgeAnswer;
import dev.cay.wire.SandboxId;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/// Judges requests that code in one sandbox sends through the edge to a sandbox. Thread-safe.
///
/// Every sandbox may reach itself. One with internet access may also reach sandboxes of its own team, as it could by
/// their public addresses. One that the edge does not know reaches nothing. When a sandbox loses its internet access,
/// its requests to others that are still open are cut.
final class Crossings {
    private final SandboxDirectory directory;
    private final Map<SandboxId, Set<Exchange>> open = new ConcurrentHashMap<>();

    Crossings(SandboxDirectory directory) {
        this.directory = directory;
        directory.onUpdate(this::cutIfBarred);
    }

    /// Whether the request may go on; if not, it was answered. Requests from outside always may.
    boolean permit(SandboxId target, Exchange exchange) {
        var from = exchange.inside();
        if (from == null) {
            return true;
        }
        var caller = directory.find(from);
        if (caller.isPresent() && from.equals(target)) {
            return true;
        }
        // Noted before the access is looked at: whoever takes the access away cuts what he finds noted.
        note(from, exchange);
        if (directory.find(from).filter(sandbox -> sandbox.network().internet()).isEmpty()) {
            PageOrJson.send(
                    exchange,
                    EdgeAnswer.refusal(
                            403,
                            target.value(),
                            "This sandbox has no internet access: from inside it only its own ports can be reached"));
            return false;
        }
        var team = caller.map(SandboxRecord::teamId);
        var other = directory.find(target).map(SandboxRecord::teamId);
        if (other.isEmpty() || !other.equals(team)) {
            PageOrJson.send(exchange, EdgeAnswer.sandboxNotFound(target.value()));
            return false;
        }
        return true;
    }

    private void note(SandboxId from, Exchange exchange) {
        open.compute(from, (_, exchanges) -> {
            var all = exchanges == null ? ConcurrentHashMap.<Exchange>newKeySet() : exchanges;
            all.add(exchange);
            return all;
        });
        exchange.onEnd(() -> open.computeIfPresent(from, (_, exchanges) -> {
            exchanges.remove(exchange);
            return exchanges.isEmpty() ? null : exchanges;
        }));
    }

    private void cutIfBarred(SandboxRecord sandbox) {
        if (!sandbox.network().internet()) {
            open.getOrDefault(sandbox.id(), Set.of())
                    .forEach(exchange -> exchange.abort("the sandbox lost its internet access"));
        }
    }
}
