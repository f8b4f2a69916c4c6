package dev.cay.node.sandbox;

import dev.cay.http.Exchange;
import dev.cay.http.PageOrJson;
import dev.cay.life.Undo;
import dev.cay.node.files.FileTree;
import dev.cay.node.files.SandboxPath;
import dev.cay.node.fuse.FuseEndpoint;
import dev.cay.node.fuse.FuseFiles;
import dev.cay.node.fuse.FuseMounter;
import dev.cay.node.guest.GuestLink;
import dev.cay.node.host.Slot;
import dev.cay.node.image.InterpreterLayers;
import dev.cay.node.image.NodeLayer;
import dev.cay.node.ingress.Envd;
import dev.cay.node.ingress.EnvdSandbox;
import dev.cay.node.interpreter.Interpreter;
import dev.cay.node.interpreter.Languages;
import dev.cay.node.linux.NetNamespace;
import dev.cay.node.log.LogHub;
import dev.cay.node.log.SandboxLog;
import dev.cay.node.process.ProcessTable;
import dev.cay.node.process.Workers;
import dev.cay.node.runtime.Container;
import dev.cay.node.watch.Watches;
import dev.cay.wire.CayException;
import dev.cay.wire.EdgeAnswer;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.SandboxId;
import dev.cay.wire.SystemPorts;
import dev.cay.wire.node.Egress;
import dev.cay.wire.node.ResourceUse;
import dev.cay.wire.node.SandboxSpec;
import java.io.IOException;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/// The node's open resources of a running sandbox: guest link, files, listeners and connections.
///
/// Opened when a container has started, closed as a whole before it is ended or saved, because every open resource
/// would keep the sandbox's namespaces alive. A container that runs on can be opened again, and continues.
final class OpenSandbox implements AutoCloseable {
    private static final Duration GUEST_LIMIT = Duration.ofSeconds(10);

    /// Time for requests in progress before a sandbox is saved.
    private static final Duration MOMENT = Duration.ofSeconds(2);
    private static final int LANGUAGES_LIMIT = 1024;

    /// Who opens and closes it.
    interface Owner {
        /// The guest went away by itself. Must not block.
        void lost();

        /// Waits for the next open sandbox, after this one was closed briefly.
        OpenSandbox awaitNext() throws InterruptedException;

        /// Whether the guest's first answer is not waited for any more.
        boolean gaveUp();
    }

    private final ProcessTable processes;
    private final FileTree files;
    private final Undo closing = new Undo();
    private final PortTraffic ports;
    private final SandboxLog log;
    private final UseMeter meter;
    private final @Nullable Interpreter interpreter;
    private final InsideEndpoints inside;
    private volatile SandboxSpec spec;
    private final boolean side;
    private final boolean bare;
    private final SandboxId caller;
    private final int edgePort;
    /// Installs the egress authority's certificate inside, if the rules need it.
    private final Consumer<Egress> trust;

    private final GuestLink link;
    private volatile boolean comesBack;
    private volatile boolean sleeps;
    private final Function<SandboxSpec, Envd> envds;
    private volatile Envd envd;

    OpenSandbox(
            HostParts host,
            TrafficParts traffic,
            WorkParts work,
            SandboxNotes notes,
            Slot slot,
            Container container,
            Owner owner)
            throws IOException {
        this.spec = notes.spec();
        this.side = notes.isSide();
        this.bare = notes.bare();
        this.caller = notes.edgeCaller();
        this.edgePort = traffic.edgePort();
        // A side sandbox is in no list, so no client can ask for its log.
        this.log = (side ? new LogHub(host.clock()) : traffic.logs()).of(spec.id());
        log.hide(spec.environment().values());
        this.meter = new UseMeter(container, slot.veth(), spec.resources(), host, work.files(), log);
        try {
            var network = closing.add(NetNamespace.open(container.pid(), work.namespaces()));
            network.setHostname(spec.id().value());
            // A pid names the container's incarnation, so that a restored one never gets a connection of the old.
            String key = spec.id().value() + "-" + container.pid();
            this.ports = new PortTraffic(spec.id(), key, network, traffic.proxy());
            this.files = closing.add(
                    FileTree.open(container.pid(), slot.uidBase(), work.files().shareOf(this::team)));
            var authority = new EgressTrust(traffic.egress());
            closing.add(traffic.egress().onRefusal(spec.id(), RefusalLog.of(log)));
            this.trust = egress -> authority.bring(spec.id(), files, egress);
            trust.accept(spec.egress());
            var watches = closing.add(new Watches(files, work.watching()));
            SandboxIdentity.write(spec, files);
            this.link = closing.add(GuestLink.open(
                    network, work.processes().poller(), GUEST_LIMIT, () -> owner.gaveUp() || container.hasEnded()));
            var folder = SandboxNotes.folder(host.records(), spec.id());
            watches.recall(folder.resolve("watchers.json"));
            var known = folder.resolve("processes");
            this.interpreter = findInterpreter(link, known, work.processes(), host.clock());
            this.processes = openProcesses(known, work, owner);
            if (interpreter != null) {
                interpreter.adopt();
            }
            this.envds = given -> new Envd(view(given, watches, followers(owner)), host.clock(), traffic.meters());
            this.envd = envds.apply(spec);
            var mcp = openMcp(known, network, traffic);
            this.inside = new InsideEndpoints(mcp, openFuse(host.fuse(), container, slot), !bare);
            listen(network, traffic);
            mcp.recall();
        } catch (IOException | RuntimeException e) {
            closing.close();
            throw e;
        }
    }

    private EnvdSandbox.Followers followers(Owner owner) {
        return new EnvdSandbox.Followers() {
            @Override
            public void add(Exchange exchange) {
                ports.exchanges().follow(exchange);
            }

            @Override
            public ProcessTable rejoin(Exchange exchange) throws InterruptedException {
                return owner.awaitNext().rejoin(exchange);
            }
        };
    }

    private ProcessTable openProcesses(Path known, WorkParts work, Owner owner) throws IOException {
        var table = closing.add(new ProcessTable(known, link, work.processes(), work.processSettings()));
        table.onLost(_ -> owner.lost());
        table.watch(new ProcessLog(log));
        table.countMemoryKills(meter::memoryKills);
        // What runs in a side sandbox is whose it was started for.
        table.adopt(process -> !side && !Interpreter.isRunner(process));
        return table;
    }

    private McpEndpoint openMcp(Path known, NetNamespace network, TrafficParts traffic) {
        return closing.add(new McpEndpoint(
                traffic.gateways(),
                traffic.fetches(),
                spec.id(),
                known,
                files,
                () -> traffic.listeners()
                        .adopt(
                                network.listen(SystemPorts.MCP),
                                spec.id(),
                                exchange -> serveInside(SystemPorts.MCP, exchange))));
    }

    private FuseEndpoint openFuse(FuseMounter mounter, Container container, Slot slot) {
        var endpoint = closing.add(new FuseEndpoint(mounter, spec.templateId(), container, slot));
        if (!bare && !side && mounter.allows(spec.templateId())) {
            FuseFiles.bring(files);
        }
        return endpoint;
    }

    /// A sandbox has one if its template has runners.
    private @Nullable Interpreter findInterpreter(GuestLink link, Path known, Workers workers, InstantSource clock)
            throws IOException {
        var languages = languages();
        if (languages.isEmpty() || bare) {
            return null;
        }
        return closing.add(new Interpreter(
                new Interpreter.Home(
                        spec.id().value(),
                        NodeLayer.environment(),
                        variables(spec),
                        spec.accessToken(),
                        spec.resources().memoryMB()),
                languages,
                link,
                workers,
                known,
                clock));
    }

    private Languages languages() {
        var fromStart = Languages.read(text(InterpreterLayers.LANGUAGES), true);
        return fromStart.isEmpty() ? Languages.read(text(InterpreterLayers.ON_DEMAND), false) : fromStart;
    }

    /// Reads a list. Root inside may have written anything there, so it is read with a limit, and invalid parts are
    /// ignored.
    private String text(String list) {
        try (var file = files.read(new SandboxPath("/" + list));
                var content = file.stream(0, Math.min(file.size(), LANGUAGES_LIMIT))) {
            return new String(content.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException | CayException e) {
            return "";
        }
    }

    /// The team, or for a sandbox without one itself.
    private String team() {
        return spec.environment().getOrDefault(SandboxIdentity.TEAM, spec.id().value());
    }

    /// Sets the variables, token and user of a spare that gets an owner.
    void become(SandboxSpec given) {
        spec = given;
        log.hide(given.environment().values());
        envd = envds.apply(given);
        SandboxIdentity.writeTeam(given, files);
        setEgress(given);
        if (interpreter != null) {
            interpreter.become(variables(given), given.accessToken());
        }
    }

    /// Applies changed egress rules.
    void setEgress(SandboxSpec given) {
        spec = given;
        trust.accept(given.egress());
    }

    /// Sets another token. Connections that were made with the old one are cut.
    void renewToken(SandboxSpec renewed) {
        become(renewed);
        ports.exchanges().cut("the access token of the sandbox was renewed");
        ports.cutConnections();
    }

    /// The way to its guest, until it is closed.
    GuestLink link() {
        return link;
    }

    FileTree files() {
        return files;
    }

    ProcessTable processes() {
        return processes;
    }

    /// Waits until everything that a sandbox of this template has from the start is ready.
    void awaitWarm() {
        if (interpreter != null) {
            interpreter.awaitWarm();
        }
    }

    private EnvdSandbox view(SandboxSpec spec, Watches watches, EnvdSandbox.Followers followers) {
        return new EnvdSandbox(
                spec.id(),
                spec.templateId(),
                NodeLayer.environment(),
                spec.environment(),
                spec.accessToken(),
                spec.defaultUser(),
                spec.defaultWorkdir(),
                processes,
                files,
                watches,
                followers,
                this::measure,
                this::listening,
                log);
    }

    private static Map<String, String> variables(SandboxSpec spec) {
        return EnvdSandbox.variables(spec.id(), spec.templateId(), spec.environment());
    }

    private void listen(NetNamespace network, TrafficParts traffic) throws IOException {
        var listeners = traffic.listeners();
        closing.step(ports::cutConnections);
        closing.step(() -> ports.exchanges().cut("the sandbox ended"));
        if (!side) {
            closing.add(listeners.adopt(
                    network.listen(SystemPorts.ENVD), spec.id(), exchange -> serveInside(SystemPorts.ENVD, exchange)));
        }
        if (interpreter != null && interpreter.isFromStart()) {
            int port = SystemPorts.INTERPRETER;
            closing.add(listeners.adopt(network.listen(port), spec.id(), exchange -> serveInside(port, exchange)));
        }
        closing.add(listeners.adoptTls(network.listen(edgePort), caller, traffic.tls(), traffic.edge()));
        closing.step(ports.exchanges()::refuse);
    }

    private void serveInside(int port, Exchange exchange) throws Exception {
        boolean done = (port == SystemPorts.ENVD && inside.serve(exchange)) || serve(port, exchange);
        if (!done) {
            PageOrJson.send(exchange, EdgeAnswer.sandboxNotFound(spec.id().value()));
        }
    }

    /// Connects to a server that listens inside.
    SocketChannel dial(int port) throws IOException {
        return ports.dial(port);
    }

    /// Answers a request for one of the sandbox's ports.
    ///
    /// @return false, and nothing answered, when it came too late
    boolean serve(int port, Exchange exchange) throws Exception {
        if (!ports.exchanges().enter(exchange)) {
            return false;
        }
        if (port == SystemPorts.ENVD) {
            envd.handle(exchange);
        } else if (port == SystemPorts.INTERPRETER && interpreter != null && !hasOwnInterpreter()) {
            interpreter.handle(exchange);
        } else if (port != SystemPorts.MCP || !inside.mcp().handle(exchange)) {
            ports.forward(port, exchange);
        }
        return true;
    }

    /// Whether a server of the user listens on the interpreter's port. An interpreter on demand leaves the port to
    /// it.
    private boolean hasOwnInterpreter() {
        return interpreter != null && !interpreter.isFromStart() && ports.isOpen(SystemPorts.INTERPRETER);
    }

    ResourceUse measure() {
        return meter.read();
    }

    /// Ports on which something inside listens, without those that Cay itself has in every sandbox.
    private List<Integer> listening() {
        return meter.listening().stream()
                .filter(port -> port != SystemPorts.ENVD && port != edgePort)
                .toList();
    }

    /// Measures. Called on a platform thread, with the disk use that was read for all sandboxes at once.
    ResourceUse measure(long diskUsed) {
        return meter.read(diskUsed);
    }

    /// Lets a client that followed a process before the sandbox was closed briefly continue.
    ProcessTable rejoin(Exchange exchange) {
        if (!ports.exchanges().enter(exchange)) {
            throw new CayException(ErrorKind.UNAVAILABLE, "the sandbox is being stopped");
        }
        ports.exchanges().follow(exchange);
        return processes;
    }

    /// Answers new requests as if the sandbox were gone; open ones continue.
    void refuse() {
        ports.exchanges().refuse();
    }

    /// Like {@link #close}, for a sandbox that is opened again soon: requests get a little time to end, and clients
    /// that follow a process wait for its return.
    void closeForAMoment() {
        comesBack = true;
        ports.exchanges().awaitOthers(MOMENT);
        ports.exchanges().refuse();
        ports.exchanges().release();
        processes.closeForAnother();
        close();
    }

    /// Whether it was closed only briefly.
    boolean comesBack() {
        return comesBack;
    }

    /// Like {@link #close}, for a sandbox that is saved with its memory: the servers of its gateway run until it is
    /// saved.
    void closeToSleep() {
        sleeps = true;
        close();
    }

    /// Refuses new requests first, then cuts open ones, then closes the guest link. Cells continue without their
    /// clients, because these did not disconnect by themselves.
    @Override
    public void close() {
        if (interpreter != null) {
            interpreter.leave();
        }
        if (!comesBack && !sleeps) {
            inside.mcp().rest();
        }
        closing.close();
    }
}
