package dev.cay.node.network;

import dev.cay.http.HttpListeners;
import dev.cay.http.Json;
import dev.cay.life.Undo;
import dev.cay.metrics.Meters;
import dev.cay.node.egress.EgressPath;
import dev.cay.node.host.HostLedger;
import dev.cay.node.host.HostPlan;
import dev.cay.node.host.NetworkLimits;
import dev.cay.node.host.Programs;
import dev.cay.node.host.Slot;
import dev.cay.node.host.Sysctls;
import dev.cay.proxy.ReverseProxy;
import dev.cay.tls.EgressAuthority;
import dev.cay.tls.LocalAuthority;
import dev.cay.web.Addresses;
import dev.cay.web.Dialer;
import dev.cay.wire.SandboxId;
import dev.cay.wire.node.Egress;
import dev.cay.wire.node.Placeholders;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;

/// A {@link NetworkLab} whose host runs the node's network with its egress path, in a JVM of its own, and whose
/// internet has servers with names.
///
/// `www.allowed.test` is at {@link NetworkLab#PUBLIC} and has a certificate that the node trusts. `evil.test`
/// is at {@link #EVIL} and has one of an authority that nobody knows.
final class EgressLab implements AutoCloseable {
    static final String EVIL = "6.6.6.3";
    static final SandboxId ID = new SandboxId("sandbox1");
    static final String SECRET = "s3cr3t-value";
    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final String GATEWAY_CERTIFICATE = "egress/ca.pem";

    private static final String INTERNET = """
            import http.server, json, resource, socket, ssl, struct, sys, threading
            resource.setrlimit(resource.RLIMIT_NOFILE, (8192, 8192))
            directory, good, evil = sys.argv[1:4]
            def say(*words): print(*words, flush=True)
            def spawn(action, *arguments): threading.Thread(target=action, args=arguments, daemon=True).start()
            def listen(address, port):
                s = socket.socket(); s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                s.bind((address, port)); s.listen(1024); return s
            class Web(http.server.BaseHTTPRequestHandler):
                protocol_version = 'HTTP/1.1'
                def log_message(self, *arguments): pass
                def do_GET(self):
                    size = int(self.headers.get('Content-Length') or 0)
                    if size: self.rfile.read(size)
                    said = {'server': self.server.server_address[0], 'path': self.path,
                            'peer': self.client_address[0],
                            'headers': {k.lower(): v for k, v in self.headers.items()}}
                    body = json.dumps(said).encode()
                    self.send_response(200); self.send_header('Content-Length', str(len(body)))
                    self.send_header('Set-Cookie', 'a=b; Domain=allowed.test'); self.end_headers()
                    self.wfile.write(body)
                do_POST = do_GET
            class Server(http.server.ThreadingHTTPServer):
                daemon_threads = True
                def handle_error(self, *arguments): pass
            def web(address, port, certificate):
                server = Server((address, port), Web)
                if certificate:
                    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER); tls.load_cert_chain(certificate)
                    server.socket = tls.wrap_socket(server.socket, server_side=True)
                spawn(server.serve_forever)
            def speak_first(s):
                while True:
                    c, _ = s.accept()
                    c.sendall(b'220 hello\\r\\n'); spawn(echo, c)
            def echo(c):
                try:
                    while True:
                        data = c.recv(65536)
                        if not data: return
                        c.sendall(data)
                except OSError: pass
                finally: c.close()
            def pump(a, b):
                try:
                    while True:
                        data = a.recv(65536)
                        if not data: break
                        b.sendall(data)
                except OSError: pass
                finally:
                    try: b.shutdown(socket.SHUT_WR)
                    except OSError: pass
            def socks(s):
                while True: spawn(socks_one, s.accept()[0])
            def exactly(c, n):
                data = b''
                while len(data) < n:
                    more = c.recv(n - len(data))
                    if not more: raise OSError('end')
                    data += more
                return data
            def socks_one(c):
                try:
                    exactly(c, 1); methods = exactly(c, exactly(c, 1)[0])
                    if 2 not in methods: c.sendall(b'\\x05\\xff'); c.close(); return
                    c.sendall(b'\\x05\\x02'); exactly(c, 1)
                    user = exactly(c, exactly(c, 1)[0]); password = exactly(c, exactly(c, 1)[0])
                    if (user, password) != (b'u', b'p'): c.sendall(b'\\x01\\x01'); c.close(); return
                    c.sendall(b'\\x01\\x00')
                    head = exactly(c, 4)
                    host = socket.inet_ntoa(exactly(c, 4)); port = struct.unpack('>H', exactly(c, 2))[0]
                    say('socks', head[3], host, port)
                    to = socket.create_connection((host, port), 5)
                    c.sendall(b'\\x05\\x00\\x00\\x01' + bytes(6))
                    spawn(pump, to, c); pump(c, to)
                except OSError as e: c.close()
            names = {'www.allowed.test': good, 'allowed.test': good, 'other.allowed.test': evil, 'evil.test': evil,
                     'private.test': '10.1.2.3', 'mirror.test': '10.1.2.3'}
            asked = {}
            def answer(data):
                name, at = [], 12
                while data[at]:
                    name.append(data[at + 1:at + 1 + data[at]].decode('latin1')); at += 1 + data[at]
                kind = struct.unpack('>H', data[at + 1:at + 3])[0]
                name = '.'.join(name).lower(); say('dns', name, kind)
                asked[name] = asked.get(name, 0) + 1
                address = names.get(name)
                if name == 'rebind.allowed.test': address = good if asked[name] == 1 else '10.1.2.3'
                question = data[12:at + 5]
                if not address: return data[:2] + b'\\x81\\x83\\x00\\x01\\x00\\x00\\x00\\x00\\x00\\x00' + question
                if kind != 1: return data[:2] + b'\\x81\\x80\\x00\\x01\\x00\\x00\\x00\\x00\\x00\\x00' + question
                record = b'\\xc0\\x0c\\x00\\x01\\x00\\x01\\x00\\x00\\x00\\x00\\x00\\x04' + socket.inet_aton(address)
                return data[:2] + b'\\x81\\x80\\x00\\x01\\x00\\x01\\x00\\x00\\x00\\x00' + question + record
            def dns(s):
                while True:
                    data, peer = s.recvfrom(4096)
                    s.sendto(answer(data), peer)
            for address, name in ((good, 'allowed'), (evil, 'evil')):
                web(address, 80, None); web(address, 443, directory + '/' + name + '/server.pem')
            web('10.1.2.3', 443, directory + '/allowed/server.pem'); web('10.1.2.3', 80, None)
            spawn(speak_first, listen(good, 25)); spawn(socks, listen(good, 1080)); spawn(socks, listen('10.1.2.3', 1080))
            s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.bind((good, 53)); spawn(dns, s)
            say('READY'); sys.stdin.read()
            """;

    private final Undo undo = new Undo();
    final NetworkLab lab;
    final Path directory;
    final Slot slot;
    final String sandbox;
    final NetworkLab.Talker internet;
    private NetworkLab.Talker node;
    private final List<String> open;

    /// @param open places that the operator opened
    EgressLab(String... open) throws Exception {
        this.open = List.of(open);
        this.directory = Files.createTempDirectory("cay-egress-");
        undo.step(() -> Programs.ofHost().require(LIMIT, "rm", "-r", directory.toString()));
        LocalAuthority.open(directory.resolve("allowed"), "allowed.test");
        LocalAuthority.open(directory.resolve("evil"), "evil.test");
        this.lab = undo.add(new NetworkLab());
        this.slot = lab.plan.take();
        this.sandbox = lab.sandbox(slot);
        lab.in(lab.internet, "ip address add " + EVIL + "/32 dev lo");
        lab.in(lab.host, "ip route add " + EVIL + "/32 via " + NetworkLab.PUBLIC);
        var command = new ArrayList<>(List.of("python3", "-c", INTERNET, directory.toString()));
        command.addAll(List.of(NetworkLab.PUBLIC, EVIL));
        this.internet = undo.add(lab.run(lab.internet, command));
        require(internet.line(), "READY");
        this.node = startNode();
    }

    private NetworkLab.Talker startNode() throws IOException, InterruptedException {
        var made = lab.java(
                Driver.class, lab.plan.instance(), lab.plan.range(), directory.toString(), String.join(",", open));
        undo.step(made::close);
        require(made.until("> ").getLast(), "> started");
        return made;
    }

    private static void require(String said, String wanted) throws IOException {
        if (!said.equals(wanted)) {
            throw new IOException(said);
        }
    }

    void put(Egress egress) throws Exception {
        order("put " + Json.text(egress));
    }

    String order(String order) throws Exception {
        String first = node.say(order);
        var said = first.startsWith("> ") ? first : node.until("> ").getLast();
        return said.substring(2);
    }

    /// Kills the node's process.
    void killNode() {
        node.close();
    }

    void restartNode() throws Exception {
        node = startNode();
    }

    /// Runs a program in the sandbox.
    Programs.Result inside(String... command) {
        return new Programs(List.of("ip", "netns", "exec", sandbox)).run(LIMIT, command);
    }

    /// The body of an answer, or `error N` with curl's code.
    String curl(String... arguments) {
        var command = new ArrayList<>(
                List.of("curl", "-sS", "-m", "8", "--cacert", trusted().toString()));
        command.addAll(List.of(arguments));
        var said = inside(command.toArray(String[]::new));
        return said.ok() ? said.output() : "error " + said.exit() + " " + said.output();
    }

    /// What programs in the sandbox trust: the authority of the allowed server and, if it is there, the node's.
    private Path trusted() {
        try {
            var all = directory.resolve("trusted.pem");
            var own = directory.resolve(GATEWAY_CERTIFICATE);
            Files.writeString(
                    all,
                    Files.readString(directory.resolve("allowed/ca.pem"))
                            + Files.readString(directory.resolve("evil/ca.pem"))
                            + (Files.exists(own) ? Files.readString(own) : ""));
            return all;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// Python in the sandbox, with what it prints.
    String python(String script, String... arguments) {
        var command = new ArrayList<>(List.of("python3", "-c", script));
        command.addAll(List.of(arguments));
        var said = inside(command.toArray(String[]::new));
        return said.ok() ? said.output().strip() : "error " + said.output();
    }

    @Override
    public void close() {
        undo.close();
    }

    /// One secret, for one host.
    private static final class Values implements Placeholders {
        @Override
        public Optional<String> value(SandboxId sandbox, Kind kind, String name, String host) {
            return name.equals("known") && host.equals("www.allowed.test") ? Optional.of(SECRET) : Optional.empty();
        }

        @Override
        public Optional<String> mark(String host) {
            return Optional.of("mark-" + host);
        }
    }

    /// The node's network and path.
    static final class Driver {
        private Driver() {}

        public static void main(String[] arguments) throws Exception {
            var directory = Path.of(arguments[2]);
            var open = arguments[3].isEmpty() ? List.<String>of() : List.of(arguments[3].split(","));
            var plan = new HostPlan(arguments[0], 1_000_000, arguments[1]);
            var nameservers = List.of(NetworkLab.PUBLIC + ":53");
            var gateway = InetAddress.ofLiteral(plan.gateway());
            var limits = new NetworkLimits(4096, 0, List.of(), open);
            var proxy = new ReverseProxy(new Meters());
            proxy.start();
            var path = new EgressPath(
                    new InetSocketAddress(gateway, HostPlan.EGRESS_PORT),
                    new Dialer.Rules(Addresses.allowing(List.of()), Set.copyOf(open), true, "network.openAddresses"),
                    limits.ceiling(),
                    new HostNames(nameservers, gateway)::find,
                    new EgressPath.Surroundings(
                            new HttpListeners(),
                            proxy,
                            new EgressAuthority(directory.resolve("egress"), InstantSource.system()),
                            () -> LocalAuthority.open(directory.resolve("allowed"), "allowed.test")
                                    .trusting()),
                    InstantSource.system());
            path.fillPlaceholders(new Values());
            var ledger = new HostLedger(Files.createDirectories(directory.resolve("ledger")));
            var pool = new NetworkPool(plan, limits, nameservers, "cay.test", new Sysctls(ledger), path);
            pool.start();
            path.start();
            path.certificate();
            var slot = plan.take();
            System.out.println("> started");
            for (String order = line(); order != null; order = line()) {
                System.out.println("> " + answer(pool, path, slot, order));
            }
        }

        private static String answer(NetworkPool pool, EgressPath path, Slot slot, String order) {
            if (order.startsWith("put ")) {
                pool.attach(ID, slot, Objects.requireNonNull(Json.read(order.substring(4), Egress.class)));
                return "done";
            }
            return Json.text(path.seen(ID));
        }

        private static String line() throws IOException {
            var line = new StringBuilder();
            for (int c = System.in.read(); c != '\n'; c = System.in.read()) {
                if (c < 0) {
                    return null;
                }
                line.append((char) c);
            }
            return line.toString();
        }
    }
}
