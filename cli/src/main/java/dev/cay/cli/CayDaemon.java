package dev.cay.cli;

import dev.cay.cli.local.KeyFile;
import dev.cay.cli.local.StartReport;
import dev.cay.cli.local.Stores;
import dev.cay.config.CayConfig;
import dev.cay.http.Exchange;
import dev.cay.http.HttpListeners;
import dev.cay.life.BackgroundTask;
import dev.cay.life.Progress;
import dev.cay.life.SystemClock;
import dev.cay.life.Undo;
import dev.cay.metrics.Meters;
import dev.cay.node.CayNode;
import dev.cay.node.NodeAssembly;
import dev.cay.node.NodeSurroundings;
import dev.cay.node.NodeVariant;
import dev.cay.node.host.HostClaim;
import dev.cay.node.host.HostLedger;
import dev.cay.node.host.HostPlan;
import dev.cay.server.AttachedNode;
import dev.cay.server.CayServer;
import dev.cay.server.store.Store;
import dev.cay.server.template.Origin;
import dev.cay.tls.LocalAuthority;
import dev.cay.tls.OperatorCertificate;
import dev.cay.web.TrustedProxies;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.node.SandboxKind;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;

/// Server and node of one machine in one process.
///
/// The caller has checked the configuration, made the directories, holds the instance's lock and found the ports free.
final class CayDaemon implements AutoCloseable {
    private final CayConfig config;
    private final DaemonSettings settings;
    private final Progress progress;
    private final Undo closing = new Undo();
    private final Meters meters = new Meters();
    private final long began = System.nanoTime();
    private @Nullable LocalAuthority authority;
    private @Nullable CayNode node;
    private volatile @Nullable CayServer server;
    private Duration took = Duration.ZERO;

    CayDaemon(CayConfig config, Progress progress) {
        this.config = config;
        this.settings = new DaemonSettings(config);
        this.progress = progress;
    }

    /// Returns when clients can be served. A failure leaves nothing behind that was not there before.
    void start() throws IOException {
        try (var undo = new Undo()) {
            undo.add(closing);
            var database = openDatabase();
            var authority = openAuthority();
            var listeners = closing.add(
                    new HttpListeners(new TrustedProxies(config.http().trustedProxies())::client));
            listeners.start();
            progress.mark("http");
            var node = startNode(listeners, authority);
            undo.step(node::leaveHostIfEmpty);
            var layers = node.baseLayers(progress);
            progress.mark("base template");
            progress.step("opening the database");
            var server = closing.add(new CayServer(
                    settings.server(() -> (int) (node.poolBytes() >> 20)),
                    opened(database),
                    new AttachedNode(
                            node.node(),
                            node.templates(),
                            node.builds(),
                            node.disk(),
                            node.authorizations(),
                            node.dashboard(),
                            node::handle),
                    SystemClock.only(),
                    meters));
            progress.mark("database");
            server.start();
            var base =
                    server.templates().register("base", settings.resources(), new Origin(layers, "user", null), null);
            this.server = server;
            progress.mark("server");
            listen(listeners, server);
            progress.mark("listening");
            base.current()
                    .ifPresent(build -> node.node()
                            .expect(new SandboxKind(base.id(), build.origin().layers(), build.resources())));
            server.supply()
                    .start(
                            settings.resources(),
                            config.templates().prepare(),
                            node.templates().built());
            server.startBuilds();
            server.startCollections();
            node.dashboard().start();
            undo.keep();
        }
        took = Duration.ofNanos(System.nanoTime() - began);
    }

    /// Opens the database while the node starts: after a crash, reading the file takes a while.
    private CompletableFuture<Store> openDatabase() {
        var database = CompletableFuture.supplyAsync(
                () -> Stores.open(config), Thread.ofPlatform().name("open-database")::start);
        closing.step(() -> {
            if (!database.handle((_, failure) -> failure != null).join()) {
                database.join().close();
            }
        });
        return database;
    }

    /// Opens the certificate authority while the listeners start: keys and certificates load most of the JDK's
    /// cryptography.
    private BackgroundTask<LocalAuthority> openAuthority() {
        return BackgroundTask.begin("open-certificates", () -> {
            var authority = LocalAuthority.open(
                    config.stateDir().resolve("tls"), config.http().domain());
            tls(authority);
            return authority;
        });
    }

    private static Store opened(CompletableFuture<Store> database) {
        try {
            return database.join();
        } catch (CompletionException e) {
            throw e.getCause() instanceof CayException known ? known : e;
        }
    }

    /// Adds the instance to the ledger of this host; refused when another instance has one of its resources.
    static void join(CayConfig config) {
        var plan = new HostPlan(
                config.instance(), config.storage().uidBase(), config.network().range());
        var http = config.http();
        HostLedger.ofHost()
                .join(HostClaim.of(
                        plan, config.stateDir(), config.runDir(), http.listen(), http.port(), http.tlsPort()));
    }

    private CayNode startNode(HttpListeners listeners, BackgroundTask<LocalAuthority> opening) throws IOException {
        progress.step("preparing the machine");
        join(config);
        var authority = opening.get();
        progress.mark("certificates");
        var started = closing.add(NodeAssembly.make(
                settings.node(),
                new NodeSurroundings(
                        listeners, this::throughFrontDoor, tls(authority), authority.caCertificate(), meters),
                NodeVariant.USUAL,
                progress));
        started.start();
        this.authority = authority;
        this.node = started;
        return started;
    }

    /// Sandboxes that were found running may ask before the server is there.
    private void throughFrontDoor(Exchange exchange) throws Exception {
        var present = server;
        if (present == null) {
            throw new CayException(ErrorKind.UNAVAILABLE, "Cay is starting; try again in a moment");
        }
        present.frontDoor().handle(exchange);
    }

    private void listen(HttpListeners listeners, CayServer server) throws IOException {
        var http = config.http();
        var tls = tls(requireAuthority());
        for (var address : http.listen()) {
            var host = InetAddress.ofLiteral(address);
            // Either port takes what comes, as some clients mistake the one for the other.
            listeners.listenTls(new InetSocketAddress(host, http.port()), tls, server.frontDoor());
            listeners.listenTls(new InetSocketAddress(host, http.tlsPort()), tls, server.frontDoor());
        }
    }

    private SSLContext tls(LocalAuthority authority) {
        var http = config.http();
        return http.certificate() != null && http.key() != null
                ? OperatorCertificate.tls(http.certificate(), http.key())
                : authority.tls();
    }

    private LocalAuthority requireAuthority() {
        if (authority == null) {
            throw new IllegalStateException("not started");
        }
        return authority;
    }

    /// What the operator wants to know once {@link #start} has returned.
    StartReport report() throws IOException {
        return new StartReport(
                URI.create("http://127.0.0.1:" + config.http().port()),
                settings.domain(),
                keyToSave(),
                running(),
                requireAuthority().caCertificate(),
                requireAuthority().bundle(),
                took);
    }

    /// The first key, or another one where the file with the first was lost: only its hash is known here.
    private @Nullable String keyToSave() throws IOException {
        var present = server;
        if (present == null) {
            return null;
        }
        boolean kept = KeyFile.read(Path.of(System.getProperty("user.home")), config.instance())
                .isPresent();
        return present.firstKey().orElseGet(() -> kept ? null : present.newKey("made when the first was lost"));
    }

    /// The number of living sandboxes, including paused ones, that {@link #killAll} would end.
    int running() {
        var present = server;
        return present == null ? 0 : present.running();
    }

    /// Pauses the sandboxes with pause on timeout.
    void pauseAll(Duration limit) {
        if (server != null) {
            progress.step("pausing sandboxes");
            server.pauseAll(limit);
            progress.done("paused");
        }
    }

    /// Ends every sandbox of this instance and puts back what Cay changed on the host. Also works on a daemon that
    /// was never started: then only as much of the node is brought up as cleaning needs.
    void killAll() throws IOException {
        progress.step("ending all sandboxes");
        if (node == null) {
            var listeners = closing.add(new HttpListeners());
            listeners.start();
            startNode(listeners, openAuthority());
        }
        if (node != null) {
            node.removeAll();
        }
        progress.done("all sandboxes ended");
    }

    /// Stops serving. Sandboxes stay as they are; if there are none, the host is left as it was before.
    @Override
    public void close() {
        try {
            if (node != null) {
                node.leaveHostIfEmpty();
            }
        } finally {
            closing.close();
        }
    }
}
