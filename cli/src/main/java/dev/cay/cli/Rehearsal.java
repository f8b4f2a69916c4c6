package dev.cay.cli;

import dev.cay.config.ConfigLoader;
import dev.cay.http.HttpListeners;
import dev.cay.life.SystemClock;
import dev.cay.life.Trees;
import dev.cay.life.Undo;
import dev.cay.metrics.Meters;
import dev.cay.node.host.Programs;
import dev.cay.node.linux.FdPoller;
import dev.cay.node.linux.HostThreads;
import dev.cay.node.runtime.GuestProgram;
import dev.cay.proxy.ReverseProxy;
import dev.cay.server.AttachedNode;
import dev.cay.server.CayServer;
import dev.cay.server.store.sqlite.SqliteStore;
import dev.cay.server.template.Origin;
import dev.cay.tls.LocalAuthority;
import dev.cay.wire.AccessToken;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.SandboxId;
import dev.cay.wire.TemplateId;
import dev.cay.wire.node.DiskShare;
import dev.cay.wire.node.Durability;
import dev.cay.wire.node.Egress;
import dev.cay.wire.node.EgressSeen;
import dev.cay.wire.node.Keep;
import dev.cay.wire.node.Node;
import dev.cay.wire.node.NodeSandbox;
import dev.cay.wire.node.Placeholders;
import dev.cay.wire.node.ResourceUse;
import dev.cay.wire.node.Resources;
import dev.cay.wire.node.SandboxKind;
import dev.cay.wire.node.SandboxSpec;
import dev.cay.wire.node.Saved;
import java.io.File;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.stream.Stream;

/// A daemon that serves a few requests on temporary ports and ends, without any change of the host. Needs no root.
///
/// Runs twice on the same files, because a second start executes other code than the first.
final class Rehearsal implements AutoCloseable {
    private static final Duration LIMIT = Duration.ofSeconds(10);
    private static final String DOMAIN = "cay.localhost";
    private static final int POOL_MB = 1024;

    private final Path directory;
    private String key = "";

    Rehearsal() throws IOException {
        this.directory = Files.createTempDirectory("cay-warm-up");
    }

    void run() throws Exception {
        linkOurClasses();
        serve();
        serve();
    }

    /// Loads and links classes that only a sandbox would use.
    private static void linkOurClasses() throws IOException {
        for (String entry : System.getProperty("java.class.path").split(File.pathSeparator)) {
            var path = Path.of(entry);
            if (Files.isDirectory(path)) {
                try (var files = Files.walk(path)) {
                    link(files.map(file -> path.relativize(file).toString()));
                }
            } else if (path.getFileName().toString().matches("cay-.*\\.jar")) {
                try (var jar = new JarFile(entry)) {
                    link(jar.stream().map(JarEntry::getName));
                }
            }
        }
    }

    private static void link(Stream<String> files) {
        files.map(file -> file.replace('/', '.'))
                .filter(name -> name.startsWith("dev.cay.") && name.endsWith(".class"))
                .filter(name -> !name.endsWith("-info.class"))
                .forEach(name -> link(name.substring(0, name.length() - ".class".length())));
    }

    /// The few commands that need measurements and proofs are passed over: the daemon has those not on its class path.
    private static void link(String name) {
        try {
            // Asking for the methods links a class without running its initialiser.
            var _ = Class.forName(name, false, Rehearsal.class.getClassLoader()).getDeclaredMethods();
        } catch (ClassNotFoundException | LinkageError e) {
            if (!String.valueOf(e.getMessage()).matches("dev/cay/(bench|platform|prove)/.*")) {
                throw new CayException(ErrorKind.INTERNAL, name + " cannot be linked", e);
            }
        }
    }

    private void serve() throws Exception {
        var meters = new Meters();
        try (var closing = new Undo()) {
            var listeners = closing.add(new HttpListeners());
            listeners.start();
            var authority = LocalAuthority.open(directory.resolve("tls"), DOMAIN);
            prepareNode(closing, meters);
            var server = closing.add(new CayServer(
                    settings().server(() -> POOL_MB),
                    closing.add(SqliteStore.open(directory.resolve("cay.db"))),
                    AttachedNode.of(new EmptyNode()),
                    SystemClock.only(),
                    meters));
            server.start();
            server.templates()
                    .register("base", new Resources(2, 512, 1024), new Origin(List.of("0"), "user", null), null);
            server.firstKey().ifPresent(made -> key = made);
            var loopback = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
            var plain = listeners.listen(loopback, server.frontDoor());
            var secure = listeners.listenTls(loopback, authority.tls(), server.frontDoor());
            try (var socket = new Socket(plain.getAddress(), plain.getPort())) {
                ask(socket);
            }
            try (var socket =
                    authority.trusting().getSocketFactory().createSocket(secure.getAddress(), secure.getPort())) {
                ask(socket);
            }
        }
    }

    /// Those of a daemon without a configuration, but for its directory.
    private DaemonSettings settings() {
        var options = Map.of("stateDir", directory.toString());
        return new DaemonSettings(
                ConfigLoader.load(Path.of("/dev/null"), Map.of(), options).config());
    }

    private void prepareNode(Undo closing, Meters meters) throws IOException {
        GuestProgram.install(directory.resolve("guest"));
        Programs.ofHost().run(LIMIT, "true");
        closing.add(new FdPoller()).start();
        closing.add(new ReverseProxy(meters)).start();
        try (var threads = new HostThreads("warm-up", 1, 1)) {
            threads.call(LIMIT, () -> "warm");
        }
    }

    private void ask(Socket socket) throws IOException {
        socket.setSoTimeout((int) LIMIT.toMillis());
        String request = "GET /v2/sandboxes HTTP/1.1\r\nHost: api.%s\r\nX-API-Key: %s\r\nConnection: close\r\n\r\n"
                .formatted(DOMAIN, key);
        socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
        String answer = new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        if (!answer.startsWith("HTTP/1.1 200")) {
            throw new CayException(ErrorKind.INTERNAL, "the rehearsal was answered: " + answer);
        }
    }

    @Override
    public void close() throws IOException {
        Trees.delete(directory);
    }

    /// A node without sandboxes.
    static final class EmptyNode implements Node {
        @Override
        public SandboxId reserve(SandboxKind kind) {
            return new SandboxId("none");
        }

        @Override
        public void expect(SandboxKind kind) {}

        @Override
        public NodeSandbox create(SandboxSpec spec) {
            throw new CayException(ErrorKind.NOT_IMPLEMENTED, "a rehearsal makes no sandbox");
        }

        @Override
        public Optional<NodeSandbox> find(SandboxId id) {
            return Optional.empty();
        }

        @Override
        public List<NodeSandbox> list() {
            return List.of();
        }

        @Override
        public void kill(SandboxId id) {}

        @Override
        public Saved pause(SandboxId id, Keep keep, Durability until) {
            throw new CayException(ErrorKind.NOT_FOUND, "a rehearsal has no sandbox");
        }

        @Override
        public NodeSandbox resume(SandboxId id, boolean memory) {
            throw new CayException(ErrorKind.NOT_FOUND, "a rehearsal has no sandbox");
        }

        @Override
        public Saved snapshot(SandboxId id, String name, Keep keep) {
            throw new CayException(ErrorKind.NOT_FOUND, "a rehearsal has no sandbox");
        }

        @Override
        public NodeSandbox rollback(SandboxId id, String snapshot) {
            throw new CayException(ErrorKind.NOT_FOUND, "a rehearsal has no sandbox");
        }

        @Override
        public Set<String> snapshots() {
            return Set.of();
        }

        @Override
        public void deleteSnapshot(String name) {}

        @Override
        public void setEgress(SandboxId id, Egress egress) {}

        @Override
        public EgressSeen egressSeen(SandboxId id) {
            return EgressSeen.NOTHING;
        }

        @Override
        public void fillPlaceholders(Placeholders values) {}

        @Override
        public Map<TemplateId, Integer> sparesByTemplate() {
            return Map.of();
        }

        @Override
        public ResourceUse measure(SandboxId id) {
            throw new CayException(ErrorKind.NOT_FOUND, "a rehearsal has no sandbox");
        }

        @Override
        public Map<SandboxId, ResourceUse> measureAll() {
            return Map.of();
        }

        @Override
        public void renewToken(SandboxId id, AccessToken token) {}

        @Override
        public List<Long> shareDisk(List<DiskShare> shares) {
            return List.of();
        }

        @Override
        public void keepRoomFor(Set<SandboxId> toBeSaved) {}

        @Override
        public void onLog(LogListener listener) {}

        @Override
        public void onEnd(EndListener listener) {}

        @Override
        public void onSaved(SavedListener listener) {}
    }
}
