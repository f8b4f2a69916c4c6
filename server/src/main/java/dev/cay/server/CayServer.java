package dev.cay.server;

import dev.cay.http.Handler;
import dev.cay.http.Routes;
import dev.cay.life.MachineClock;
import dev.cay.life.SteadyClock;
import dev.cay.life.Undo;
import dev.cay.metrics.Meters;
import dev.cay.server.access.ApiKeys;
import dev.cay.server.access.KeyScope;
import dev.cay.server.access.SandboxTokens;
import dev.cay.server.backup.Backups;
import dev.cay.server.backup.RunningSandboxes;
import dev.cay.server.backup.ScratchStore;
import dev.cay.server.dashboard.Dashboard;
import dev.cay.server.edge.ControlPlane;
import dev.cay.server.edge.Crossings;
import dev.cay.server.edge.FrontDoor;
import dev.cay.server.edge.SandboxGate;
import dev.cay.server.event.EventCounts;
import dev.cay.server.live.LiveRoutes;
import dev.cay.server.people.PersonAccess;
import dev.cay.server.sandbox.SandboxView;
import dev.cay.server.store.Store;
import dev.cay.server.store.StoreOwner;
import dev.cay.server.template.TemplateSupply;
import dev.cay.server.template.Templates;
import dev.cay.server.webhook.Webhooks;
import dev.cay.wire.SandboxId;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The control plane and the edge of one Cay. Made with values, started, asked for its front door, closed.
public final class CayServer implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(CayServer.class);

    private final Undo opened = new Undo();
    private final ExecutorService endings;
    private final ServerBase base;
    private final TeamParts teams;
    private final SandboxParts sandboxes;
    private final NetworkParts networks;
    private final ObservationParts observation;
    private final TemplateParts templates;
    private final PersonAccess people;
    private final List<Routes.Route> table;
    private final FrontDoor frontDoor;

    /// @param store stays the caller's, and open as long as the server is
    public CayServer(
            ServerSettings settings, Store store, AttachedNode node, MachineClock machineClock, Meters meters) {
        var random = new SecureRandom();
        endings = opened.add(Executors.newVirtualThreadPerTaskExecutor());
        base = new ServerBase(
                store,
                SandboxTokens.open(settings.files().secret(), random),
                new SteadyClock(machineClock),
                random,
                new EventCounts(),
                meters);
        teams = TeamParts.make(settings, base, opened);
        var access = teams.access();
        var named = new Templates(store, base.clock(), random, access::firstTeam);
        var supply = new TemplateSupply(named, node.sandboxes(), node.templates());
        var webhooks = opened.add(new Webhooks(
                settings.observation().webhooks(),
                store,
                access,
                base.tokens(),
                teams.audit(),
                base.clock(),
                random,
                meters));
        sandboxes =
                SandboxParts.make(settings.sandboxes(), base, teams, named, supply, node, webhooks::forgetOld, opened);
        networks = NetworkParts.make(settings, base, teams, named, sandboxes.directory(), opened);
        observation = ObservationParts.make(settings, base, teams, sandboxes, webhooks, opened);
        templates = TemplateParts.make(
                settings.templates(), base, teams, named, supply, sandboxes, observation, node, opened);
        var routes = new ApiRoutes(settings, base, teams, networks, sandboxes, templates, observation, node).make();
        people = opened.add(people(settings));
        people.addTo(routes);
        backups(settings, node).addTo(routes);
        opened.add(new LiveRoutes(
                        access,
                        sandboxes.sandboxes(),
                        sandboxes.directory(),
                        new SandboxView(base.tokens(), settings.domain())))
                .addTo(routes);
        var dashboard = new Dashboard(
                people,
                access,
                sandboxes.directory(),
                base.tokens(),
                node.dashboard(),
                settings.domain(),
                base.clock(),
                base.random());
        frontDoor = frontDoor(settings, node, routes, dashboard);
        // The front door has added its own.
        table = Stream.concat(routes.table().stream(), dashboard.table().stream())
                .toList();
    }

    private PersonAccess people(ServerSettings settings) {
        return new PersonAccess(
                settings.teams().people(),
                base.store(),
                teams.access(),
                teams.keys(),
                teams.teams(),
                sandboxes.sandboxes()::ownerOf,
                sandboxes.upkeep().renewal()::ofKey,
                base.tokens(),
                teams.audit(),
                base.clock(),
                base.random());
    }

    private Backups backups(ServerSettings settings, AttachedNode node) {
        var scratch = new ScratchStore(settings.files().records().resolveSibling("backup"));
        opened.step(scratch::clear);
        return new Backups(
                teams.access(),
                base.store(),
                sandboxes.records(),
                new RunningSandboxes(sandboxes.directory(), sandboxes.fleet(), base.random()),
                node.disk().backup(),
                templates.supply()::names,
                scratch,
                base.clock());
    }

    private FrontDoor frontDoor(ServerSettings settings, AttachedNode node, Routes routes, Dashboard dashboard) {
        var directory = sandboxes.directory();
        return new FrontDoor(
                settings.domain(),
                new ControlPlane(routes.measured(base.meters())),
                directory,
                new SandboxGate(
                        directory,
                        sandboxes.pauses(),
                        teams.access(),
                        base.tokens(),
                        node.ports(),
                        teams.quotas(),
                        base.clock(),
                        new Crossings(directory, settings.domain(), networks.placeholders())),
                dashboard);
    }

    /// All routes of the API.
    List<Routes.Route> table() {
        return table;
    }

    /// Settles with the node what a previous run left, and begins to end sandboxes on time. Requests come after.
    public void start() {
        StoreOwner.require(
                base.store(), base.tokens().fingerprint(), base.clock().instant());
        teams.start();
        people.start();
        networks.start();
        templates.templates().start();
        // Before the node is asked what runs, so that no end falls between.
        var node = sandboxes.fleet().node();
        node.onEnd(this::ended);
        node.onSaved((id, saved) -> inBackground(id, () -> sandboxes.pauses().noteSaved(id, saved)));
        node.fillPlaceholders(networks.placeholders());
        node.onLog(observation::add);
        sandboxes.upkeep().start();
        observation.start();
    }

    /// Continues builds that an earlier daemon began. Call this once the templates that come with Cay are on record.
    public void startBuilds() {
        templates.builds().start();
    }

    /// Starts the removal of unreferenced files from the node's disk. Call this once the templates that come with Cay
    /// are on record.
    public void startCollections() {
        templates.collections().start();
    }

    /// Answers every request that comes in from outside, and host-form requests from inside sandboxes.
    public Handler frontDoor() {
        return frontDoor;
    }

    public Templates templates() {
        return templates.templates();
    }

    /// The templates that come with Cay.
    public TemplateSupply supply() {
        return templates.supply();
    }

    /// The API key that this start made, if it was the first one. Only its hash is stored, so a lost key cannot be
    /// shown again.
    public Optional<String> firstKey() {
        return teams.access().firstKey();
    }

    /// Makes another key for the first team, in place of a lost one.
    public String newKey(String name) {
        var wanted = new ApiKeys.Wanted(name, KeyScope.ALL, null);
        return teams.keys().create(teams.access().firstTeam(), wanted, null).text();
    }

    /// Pauses the sandboxes that are paused on timeout, because the machine shuts down.
    public void pauseAll(Duration limit) {
        sandboxes.pauses().pauseAll(limit);
    }

    /// The number of running sandboxes.
    public int running() {
        return sandboxes.directory().running();
    }

    /// Stops the server's threads. Sandboxes keep running.
    @Override
    public void close() {
        opened.close();
    }

    private void ended(SandboxId id, String reason) {
        inBackground(id, () -> sandboxes.starter().ended(id, reason));
    }

    /// Records what the node tells on another thread, because the node's thread must not wait for a disk.
    private void inBackground(SandboxId id, Runnable record) {
        try {
            endings.execute(() -> {
                try {
                    record.run();
                } catch (RuntimeException e) {
                    log.atError()
                            .setCause(e)
                            .addKeyValue("sandbox", id)
                            .log("cannot record the new state of a sandbox");
                }
            });
        } catch (RejectedExecutionException e) {
            log.atDebug()
                    .addKeyValue("sandbox", id)
                    .log("a sandbox changed while the server stops; the next start settles its record");
        }
    }
}
