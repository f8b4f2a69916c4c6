package dev.cay.server.edge;

import dev.cay.http.Exchange;
import dev.cay.http.Handler;
import dev.cay.http.PageOrJson;
import dev.cay.server.dashboard.Dashboard;
import dev.cay.server.dashboard.Onward;
import dev.cay.server.dashboardapi.DashboardApi;
import dev.cay.server.sandbox.SandboxDirectory;
import dev.cay.server.sandbox.SandboxRecord;
import dev.cay.wire.CayException;
import dev.cay.wire.EdgeAnswer;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.FileSignature;
import dev.cay.wire.SandboxAddress;
import dev.cay.wire.SandboxId;
import dev.cay.wire.SystemPorts;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/// Decides whether a request on the shared port is for the control plane or for a sandbox. The order matters.
///
/// 1. A host name `{port}-{sandboxId}` is that sandbox, whatever the headers: servers inside may use the same header
///    names.
/// 2. The host `dashboard-api` of the domain is E2B's dashboard API alone, whose paths collide with others.
/// 3. Paths below `/dashboard` are the dashboard's, which passes calls of its pages on.
/// 4. An API credential on a path of the control plane is for the control plane: some clients send sandbox headers with
///    it.
/// 5. Both `E2b-Sandbox-*` headers name a port of a sandbox.
/// 6. `X-Access-Token` alone is for the system port of the sandbox it opens, as some clients send nothing else.
/// 7. A signed `/files` URL is for the sandbox whose token made the signature.
/// 8. Everything else is for the control plane.
public final class FrontDoor implements Handler, Onward {

    private final SandboxHosts hosts;
    private final ControlPlane control;
    private final SandboxDirectory directory;
    private final SandboxGate gate;
    private final Dashboard dashboard;

    public FrontDoor(
            String domain, ControlPlane control, SandboxDirectory directory, SandboxGate gate, Dashboard dashboard) {
        this.hosts = new SandboxHosts(domain);
        this.control = control;
        this.directory = directory;
        this.gate = gate;
        this.dashboard = dashboard;
    }

    @Override
    public void handle(Exchange exchange) throws Exception {
        Optional<SandboxAddress> host;
        try {
            host = hosts.find(exchange.authority());
        } catch (CayException e) {
            // The sender may be no API client, so it gets text and not JSON.
            exchange.send(400, "text/plain; charset=utf-8", e.userMessage().getBytes(StandardCharsets.UTF_8));
            return;
        }
        if (host.isPresent()) {
            gate.pass(host.get(), exchange);
            return;
        }
        if (exchange.inside() != null) {
            // A sandbox needs only addresses of sandboxes; the API is not served inside.
            throw new CayException(
                    ErrorKind.NOT_FOUND, "inside a sandbox only hosts like <port>-<sandboxId>.<domain> are served");
        }
        if (hosts.isDashboardApi(exchange.authority())) {
            control.handle(exchange.goOnAt(DashboardApi.PREFIX + exchange.path(), Set.of(), Map.of()));
            return;
        }
        if (dashboard.owns(exchange.path())) {
            dashboard.handle(exchange, this);
            return;
        }
        if (carriesCredential(exchange) && control.knows(exchange.path())) {
            control.handle(exchange);
            return;
        }
        if (exchange.header("E2b-Sandbox-Id") != null || exchange.header("E2b-Sandbox-Port") != null) {
            gate.pass(addressInHeaders(exchange), exchange);
            return;
        }
        handleWithoutName(exchange);
    }

    @Override
    public void toApi(Exchange exchange) throws Exception {
        control.handle(exchange);
    }

    @Override
    public void toSandbox(SandboxAddress address, Exchange exchange) throws Exception {
        gate.pass(address, exchange);
    }

    /// The last three rules, for requests that name no sandbox.
    private void handleWithoutName(Exchange exchange) throws Exception {
        String token = exchange.header("X-Access-Token");
        if (token != null) {
            passToOwner(directory.findByToken(token), exchange);
            return;
        }
        if (exchange.path().equals("/files") && exchange.query("signature") != null) {
            var owner = FileSignature.of(exchange.method(), exchange::query)
                    .flatMap(signature -> directory.findByToken(signature::madeWith));
            if (owner.isEmpty()) {
                throw new CayException(
                        ErrorKind.UNAUTHENTICATED, "invalid signature: it was made for no sandbox that runs");
            }
            // A page in a sandbox's file has no part in this host, where browsers of people are signed in.
            exchange.with("Content-Security-Policy", "sandbox");
            passToOwner(owner, exchange);
            return;
        }
        control.handle(exchange);
    }

    private void passToOwner(Optional<SandboxRecord> owner, Exchange exchange) throws Exception {
        if (owner.isEmpty()) {
            // The owner may have been killed: the answer must mean "gone", and its id is not known.
            PageOrJson.send(exchange, EdgeAnswer.sandboxNotFound(""));
            return;
        }
        gate.pass(new SandboxAddress(owner.get().id(), SystemPorts.ENVD), exchange);
    }

    private static boolean carriesCredential(Exchange exchange) {
        String authorization = exchange.header("Authorization");
        return exchange.header("X-API-Key") != null
                || exchange.header("X-Admin-Token") != null
                || (authorization != null && authorization.regionMatches(true, 0, "Bearer ", 0, 7));
    }

    private static SandboxAddress addressInHeaders(Exchange exchange) {
        String id = exchange.header("E2b-Sandbox-Id");
        String port = exchange.header("E2b-Sandbox-Port");
        if (id == null || port == null) {
            throw new CayException(
                    ErrorKind.INVALID_ARGUMENT,
                    "missing header: E2b-Sandbox-Id and E2b-Sandbox-Port must be sent together");
        }
        return SandboxHosts.address(SandboxId.parse(id).value(), port);
    }
}
