package dev.cay.server;

import dev.cay.http.Handler;
import dev.cay.http.Routes;
import dev.cay.life.MachineClock;
import dev.cay.life.SteadyClock;
import dev.cay.life.Undo;
import dev.cay.metrics.Meters;
import dev.cay.server.access.Access;
import dev.cay.server.access.AdminToken;
import dev.cay.server.access.ApiKeys;
import dev.cay.server.access.KeyRoutes;
import dev.cay.server.access.KeyScope;
import dev.cay.server.access.SandboxTokens;
import dev.cay.server.access.TeamRoutes;
import dev.cay.server.access.Teams;
import dev.cay.server.admin.LimitRoutes;
import dev.cay.server.admin.TeamAdminRoutes;
import dev.cay.server.admin.TeamNetworkRoutes;
import dev.cay.server.audit.AuditLog;
import dev.cay.server.backup.Backups;
import dev.cay.server.backup.RunningSandboxes;
import dev.cay.server.backup.ScratchStore;
import dev.cay.server.build.BuildFloor;
import dev.cay.server.edge.ControlPlane;
import dev.cay.server.edge.Crossings;
import dev.cay.server.edge.FrontDoor;
import dev.cay.server.edge.SandboxGate;
import dev.cay.server.edge.SandboxPorts;
import dev.cay.server.edge.Unserved;
import dev.cay.server.event.EventCounts;
import dev.cay.server.event.EventRoutes;
import dev.cay.server.fleet.Fleet;
import dev.cay.server.identity.IdentityRoutes;
import dev.cay.server.identity.IdentityTokens;
import dev.cay.server.log.LogRoutes;
import dev.cay.server.log.LogShipper;
import dev.cay.server.log.OtlpSettings;
import dev.cay.server.log.SandboxLogs;
import dev.cay.server.mcp.AuthorizationRoutes;
import dev.cay.server.metrics.MetricRoutes;
import dev.cay.server.metrics.PrometheusRoutes;
import dev.cay.server.metrics.Sampler;
import dev.cay.server.metrics.SandboxMetrics;
import dev.cay.server.metrics.TeamMetrics;
import dev.cay.server.network.NetworkReader;
import dev.cay.server.network.TeamNetworks;
import dev.cay.server.people.PersonAccess;
import dev.cay.server.quota.Limits;
import dev.cay.server.quota.Quotas;
import dev.cay.server.sandbox.Agreement;
import dev.cay.server.sandbox.Chores;
import dev.cay.server.sandbox.ConcurrencyLimit;
import dev.cay.server.sandbox.DiskShares;
import dev.cay.server.sandbox.EgressRoutes;
import dev.cay.server.sandbox.EgressValues;
import dev.cay.server.sandbox.Expiry;
import dev.cay.server.sandbox.Pauses;
import dev.cay.server.sandbox.RepeatableCreates;
import dev.cay.server.sandbox.SandboxDirectory;
import dev.cay.server.sandbox.SandboxListing;
import dev.cay.server.sandbox.SandboxRecords;
import dev.cay.server.sandbox.SandboxRoutes;
import dev.cay.server.sandbox.SandboxStarter;
import dev.cay.server.sandbox.SandboxView;
import dev.cay.server.sandbox.Sandboxes;
import dev.cay.server.sandbox.Settlement;
import dev.cay.server.sandbox.TokenRenewal;
import dev.cay.server.secret.SecretRoutes;
import dev.cay.server.secret.Secrets;
import dev.cay.server.snapshot.ForkRoutes;
import dev.cay.server.snapshot.Forks;
import dev.cay.server.snapshot.SnapshotRoutes;
import dev.cay.server.snapshot.Snapshots;
import dev.cay.server.store.Store;
import dev.cay.server.store.StoreOwner;
import dev.cay.server.template.DiskCollections;
import dev.cay.server.template.TemplateRoutes;
import dev.cay.server.template.TemplateSupply;
import dev.cay.server.template.Templates;
import dev.cay.server.volume.ContentRoutes;
import dev.cay.server.volume.VolumeRoutes;
import dev.cay.server.volume.VolumeTokens;
import dev.cay.server.volume.Volumes;
import dev.cay.server.webhook.Webhooks;
import dev.cay.wire.SandboxId;
import dev.cay.wire.node.Node;
import dev.cay.wire.node.NodeAuthorizations;
import dev.cay.wire.node.NodeBuilds;
import dev.cay.wire.node.NodeDisk;
import dev.cay.wire.node.NodeTemplates;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The control plane and the edge of one Cay. Made with values, started, asked for its front door, closed.
public final class CayServer implements AutoCloseable {
    /// What an operator decides about the server.
    ///
    /// @param secret       file of the key that sandboxes' tokens are derived from; made when absent, mode 0600
    /// @param adminToken   file of the operator's token; made when absent, mode 0600
    /// @param domain       what host names of sandboxes end in, with a port unless that is 443
    /// @param timeout      how long a sandbox lives whose client did not say
    /// @param maxTimeout   longest life of a sandbox from its start
    /// @param keepPaused   how long a paused sandbox is kept; null for ever
    /// @param patience     how long a request waits for a sandbox that is being paused or resumed
    /// @param records      directory of metrics and logs of sandboxes
    /// @param measureEvery time between two readings of what sandboxes use
    /// @param keepUnused   how long layers and other things stay that nothing refers to; null if none is removed
    /// @param limits       of teams for which the operator has set none
    /// @param openAddresses places in the operator's network that sandboxes may connect to, as `address:port`
    /// @param builds       what holds for builds of templates
    /// @param webhooks     what holds for webhooks
    /// @param audit        what holds for the audit log
    /// @param otlp         where lines of logs are sent
    /// @param people       what holds for people who sign in
    public record Settings(
            Path secret,
            Path adminToken,
            String domain,
            Duration timeout,
            Duration maxTimeout,
            @Nullable Duration keepPaused,
            Duration patience,
            Path records,
            Duration measureEvery,
            @Nullable Duration keepUnused,
            Limits limits,
            List<String> openAddresses,
            BuildFloor.Settings builds,
            Webhooks.Settings webhooks,
            AuditLog.Settings audit,
            OtlpSettings otlp,
            PersonAccess.Settings people) {}

    private static final Logger log = LoggerFactory.getLogger(CayServer.class);

    private final Undo opened = new Undo();
    private final ExecutorService endings;
    private final Runnable requireStore;
    private final Quotas quotas;
    private final TeamNetworks teamNetworks;
    private final NetworkReader networks;
    private final AuditLog audit;
    private final Access access;
    private final ApiKeys keys;
    private final Teams teams;
    private final Templates templates;
    private final TemplateSupply supply;
    private final SandboxDirectory directory;
    private final Fleet fleet;
    private final Sandboxes sandboxes;
    private final TokenRenewal renewal;
    private final DiskShares shares;
    private final Volumes volumes;
    private final Consumer<Duration> followClock;
    private final SandboxStarter starter;
    private final Pauses pauses;
    private final Snapshots snapshots;
    private final Settlement settlement;
    private final Expiry expiry;
    private final Chores chores;
    private final SandboxLogs logs;
    private final LogShipper shipper;
    private final Sampler sampler;
    private final BuildFloor builds;
    private final DiskCollections collections;
    private final Webhooks webhooks;
    private final PersonAccess people;
    private final Secrets secrets;
    private final IdentityTokens identities;
    private final EgressValues placeholders;
    private final Routes routes;
    private final FrontDoor frontDoor;

    /// @param store stays the caller's, and open as long as the server is
    /// @param made  templates that come with Cay
    public CayServer(
            Settings settings,
            Store store,
            Node node,
            NodeTemplates made,
            NodeBuilds nodeBuilds,
            NodeDisk disk,
            NodeAuthorizations authorizations,
            SandboxPorts ports,
            MachineClock machineClock,
            Meters meters) {
        var clock = new SteadyClock(machineClock);
        var random = new SecureRandom();
        var tokens = SandboxTokens.open(settings.secret(), random);
        endings = opened.add(Executors.newVirtualThreadPerTaskExecutor());
        fleet = new Fleet(node);
        requireStore = () -> StoreOwner.require(store, tokens.fingerprint(), clock.instant());
        quotas = new Quotas(store, settings.limits());
        secrets = new Secrets(store, settings.secret().resolveSibling("secrets.keys"), clock, random);
        teamNetworks = new TeamNetworks(store);
        networks = opened.add(
                new NetworkReader(tokens, teamNetworks, Set.copyOf(settings.openAddresses()), secrets::requireUsable));
        audit = opened.add(new AuditLog(settings.audit(), store, clock, meters));
        access = new Access(store, quotas, new AdminToken(settings.adminToken()), clock, random, audit);
        opened.step(access::close);
        keys = new ApiKeys(store, access, clock, random);
        templates = new Templates(store, clock, random, access::firstTeam);
        supply = new TemplateSupply(templates, node, made);
        directory = new SandboxDirectory(tokens);
        identities = new IdentityTokens(
                settings.secret().resolveSibling("identity.key"),
                settings.people().url(),
                clock);
        placeholders = new EgressValues(directory, secrets, identities);
        expiry = opened.add(new Expiry(clock, directory, settings.keepPaused()));
        var events = new EventCounts();
        var sandboxRecords = new SandboxRecords(store, directory, expiry, clock, events, quotas);
        followClock = sandboxRecords::followClock;
        sandboxes = new Sandboxes(store, directory, fleet, expiry, sandboxRecords, settings.maxTimeout());
        renewal = new TokenRenewal(store, sandboxRecords, directory, fleet, tokens);
        var starts = ConcurrencyLimit.starting();
        volumes = new Volumes(store, disk.volumes(), clock);
        shares = new DiskShares(quotas, directory, templates, fleet, volumes);
        volumes.limit(shares::requireRoom);
        starter = new SandboxStarter(
                sandboxRecords, sandboxes, templates, supply, fleet, tokens, random, starts, shares, meters);
        var saves = ConcurrencyLimit.saving();
        var agreement = new Agreement(sandboxRecords);
        var limits = new Pauses.Limits(settings.maxTimeout(), settings.patience(), starts, saves);
        pauses = new Pauses(sandboxRecords, directory, sandboxes, fleet, expiry, agreement, limits);
        snapshots = new Snapshots(store, templates, sandboxRecords, fleet, saves, shares, random);
        settlement = new Settlement(sandboxRecords, directory, fleet, agreement);
        webhooks = opened.add(new Webhooks(settings.webhooks(), store, access, tokens, clock, random, meters));
        shipper = opened.add(new LogShipper(settings.otlp(), directory, meters));
        events.onEvent(event -> {
            webhooks.wake();
            audit.happened(event);
            shipper.add(event);
        });
        teams = new Teams(store, access, clock);
        people = opened.add(
                new PersonAccess(settings.people(), store, access, keys, teams, tokens, audit, clock, random));
        chores = opened.add(new Chores(store, sandboxes, starter, pauses, templates, webhooks::forgetOld, clock));
        var records = settings.records();
        logs = opened.add(new SandboxLogs(records.resolve("sandbox-logs.ring"), store, clock, meters));
        var metrics = opened.add(
                new SandboxMetrics(records.resolve("sandbox-metrics.ring"), directory, fleet, clock, meters));
        var teamMetrics = opened.add(new TeamMetrics(records.resolve("team-metrics.ring"), directory, events, clock));
        sampler = opened.add(new Sampler(
                directory, metrics, teamMetrics, node::keepRoomFor, shares::update, settings.measureEvery()));

        builds = new BuildFloor(
                settings.builds(),
                store,
                access,
                quotas,
                templates,
                supply,
                nodeBuilds,
                tokens,
                snapshots,
                directory,
                clock);
        routes = routes(settings, store, new SandboxView(tokens, settings.domain()));
        new MetricRoutes(access, sandboxes, metrics, teamMetrics, clock).addTo(routes);
        new EgressRoutes(access, sandboxes, fleet).addTo(routes);
        audit.addTo(routes, access);
        new PrometheusRoutes(access, meters).addTo(routes);
        var volumeTokens = new VolumeTokens(tokens, clock);
        new VolumeRoutes(access, volumes, volumeTokens, settings.domain()).addTo(routes);
        new ContentRoutes(access, volumes, volumeTokens, disk.volumes(), quotas).addTo(routes);
        new AuthorizationRoutes(access, sandboxes, authorizations).addTo(routes);
        collections = opened.add(new DiskCollections(access, templates, disk, settings.keepUnused()));
        collections.addTo(routes);
        var scratch = new ScratchStore(records.resolveSibling("backup"));
        opened.step(scratch::clear);
        new Backups(
                        access,
                        store,
                        sandboxRecords,
                        new RunningSandboxes(directory, fleet, random),
                        disk.backup(),
                        supply::names,
                        scratch,
                        clock)
                .addTo(routes);
        events.addTo(meters);
        meters.gauges("cay_sandboxes", "Sandboxes that live, by state", "state", directory::byState);
        frontDoor = new FrontDoor(
                settings.domain(),
                new ControlPlane(routes.measured(meters)),
                directory,
                new SandboxGate(
                        directory,
                        pauses,
                        access,
                        tokens,
                        ports,
                        quotas,
                        clock,
                        new Crossings(directory, settings.domain(), placeholders)));
    }

    /// All that the API serves.
    List<Routes.Route> table() {
        return routes.table();
    }

    private Routes routes(Settings settings, Store store, SandboxView view) {
        var routes = new Routes();
        new TeamRoutes(access).addTo(routes);
        new KeyRoutes(access, keys, renewal::ofKey).addTo(routes);
        new TeamAdminRoutes(access, teams, keys, sandboxes, templates, volumes).addTo(routes);
        new TemplateRoutes(access, templates, supply).addTo(routes);
        new SandboxRoutes(
                        access,
                        sandboxes,
                        starter,
                        pauses,
                        new RepeatableCreates(store, starter),
                        view,
                        quotas,
                        networks,
                        volumes,
                        settings.timeout(),
                        settings.maxTimeout())
                .addTo(routes);
        new TeamNetworkRoutes(access, teamNetworks, networks).addTo(routes);
        new LimitRoutes(access, quotas, keys, sandboxes, shares).addTo(routes);
        new SandboxListing(access, sandboxes, templates, view).addTo(routes);
        new SnapshotRoutes(
                        access,
                        sandboxes,
                        templates,
                        snapshots,
                        pauses,
                        view,
                        settings.timeout(),
                        settings.maxTimeout())
                .addTo(routes);
        new ForkRoutes(access, sandboxes, new Forks(snapshots, starter, view), quotas, settings.maxTimeout())
                .addTo(routes);
        new LogRoutes(access, sandboxes, logs).addTo(routes);
        new EventRoutes(access, store).addTo(routes);
        webhooks.addTo(routes);
        people.addTo(routes);
        new SecretRoutes(access, secrets).addTo(routes);
        new IdentityRoutes(access, identities).addTo(routes);
        builds.addTo(routes);
        new Unserved(access).addTo(routes);
        return routes;
    }

    /// Settles with the node what a previous run left, and begins to end sandboxes on time. Requests come after.
    public void start() {
        requireStore.run();
        audit.start();
        quotas.start();
        teamNetworks.start();
        access.start();
        people.start();
        secrets.start();
        templates.start();
        // Before the node is asked what runs, so that no end falls between.
        fleet.node().onEnd(this::ended);
        fleet.node().fillPlaceholders(placeholders);
        fleet.node().onLog((id, line) -> {
            logs.add(id, line);
            shipper.add(id, line);
        });
        settlement.settle();
        volumes.start();
        renewal.settle();
        snapshots.settle();
        expiry.start(pauses::expire, followClock);
        chores.start();
        sampler.start();
        webhooks.start();
        shipper.start();
    }

    /// Goes on with builds that an earlier daemon began, once the templates that come with Cay are on record.
    public void startBuilds() {
        builds.start();
    }

    /// Begins to remove from the node's disk what nothing refers to, once the templates that come with Cay are on
    /// record.
    public void startCollections() {
        collections.start();
    }

    /// Answers every request that comes in from outside, and host-form requests from inside sandboxes.
    public Handler frontDoor() {
        return frontDoor;
    }

    public Templates templates() {
        return templates;
    }

    /// Those of them that come with Cay.
    public TemplateSupply supply() {
        return supply;
    }

    /// The API key made by this start, if it was the first one. Kept only hashed: who does not save it has lost it.
    public Optional<String> firstKey() {
        return access.firstKey();
    }

    /// Makes another key for the first team, for whoever lost the first one.
    public String newKey(String name) {
        return keys.create(access.firstTeam(), new ApiKeys.Wanted(name, KeyScope.ALL, null), null)
                .text();
    }

    /// Saves the sandboxes that are paused when their time is over, because the machine goes down.
    public void pauseAll(Duration limit) {
        pauses.pauseAll(limit);
    }

    /// How many sandboxes run.
    public int running() {
        return directory.running();
    }

    /// Stops the server's threads. Sandboxes go on running.
    @Override
    public void close() {
        opened.close();
    }

    /// Not on the node's thread, which must not wait for a disk.
    private void ended(SandboxId id, String reason) {
        try {
            endings.execute(() -> {
                try {
                    starter.ended(id, reason);
                } catch (RuntimeException e) {
                    log.atError().setCause(e).addKeyValue("sandbox", id).log("could not record the end of a sandbox");
                }
            });
        } catch (RejectedExecutionException e) {
            log.atDebug().addKeyValue("sandbox", id).log("a sandbox ended while we close; the next start will see");
        }
    }
}
