package dev.cay.server.dashboard;

import dev.cay.http.Exchange;
import dev.cay.http.Routes;
import dev.cay.server.access.Access;
import dev.cay.server.access.SandboxTokens;
import dev.cay.server.people.PersonAccess;
import dev.cay.server.sandbox.SandboxDirectory;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.node.NodeDashboard;
import java.security.SecureRandom;
import java.time.InstantSource;
import java.util.List;

/// Answers requests below `/dashboard`: files, the session of the browser, and calls that pages make.
public final class Dashboard {
    private static final String ROOT = "/dashboard";

    /// E2B's command line prints this path with the id of a sandbox.
    private static final String INSPECT = ROOT + "/inspect/sandbox/";

    private final Viewers viewers;
    private final PersonAccess people;
    private final Access access;
    private final SandboxDirectory directory;
    private final SandboxTokens tokens;
    private final String domain;
    private final Pages pages;
    private final Routes session = new Routes();

    /// @param domain suffix of sandboxes' host names
    public Dashboard(
            PersonAccess people,
            Access access,
            SandboxDirectory directory,
            SandboxTokens tokens,
            NodeDashboard files,
            String domain,
            InstantSource clock,
            SecureRandom random) {
        this.people = people;
        this.access = access;
        this.directory = directory;
        this.tokens = tokens;
        this.domain = domain;
        this.viewers = new Viewers(people, access, tokens, clock, random);
        this.pages = new Pages(files);
        new SessionRoutes(viewers, people, domain).addTo(session);
    }

    /// Its routes beside files and calls that are passed on.
    public List<Routes.Route> table() {
        return session.table();
    }

    /// Whether the dashboard answers at this path.
    public boolean owns(String path) {
        return path.equals(ROOT) || path.startsWith(ROOT + "/");
    }

    public void handle(Exchange exchange, Onward onward) throws Exception {
        String path = exchange.path();
        if (session.knows(path)) {
            session.handle(exchange);
        } else if (path.startsWith(Relay.PREFIX + "/")) {
            new Relay(viewers, people.browsers(), access, directory, tokens, domain, onward).handle(exchange);
        } else if (path.startsWith(INSPECT)) {
            inspect(exchange, path.substring(INSPECT.length()));
        } else {
            pages.handle(exchange, path.length() <= ROOT.length() ? "" : path.substring(ROOT.length() + 1));
        }
    }

    private static void inspect(Exchange exchange, String id) {
        if (!id.matches("[a-z0-9]{1,40}(-[a-z0-9]*)?")) {
            throw new CayException(ErrorKind.NOT_FOUND, "no such path: " + exchange.path());
        }
        exchange.with("Cache-Control", "no-store")
                .with("Location", ROOT + "/sandboxes/" + id.split("-")[0])
                .send(303);
    }
}
