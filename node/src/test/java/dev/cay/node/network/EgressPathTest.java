package dev.cay.node.network;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.testing.Await;
import dev.cay.testing.NeedsRoot;
import dev.cay.wire.node.Egress;
import dev.cay.wire.node.EgressProxy;
import java.nio.file.Files;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// Every refusal stands beside a control that gets through without the rule.
@NeedsRoot
final class EgressPathTest {
    private static final String GOOD = NetworkLab.PUBLIC;
    private static final String EVIL = EgressLab.EVIL;
    private static final String HOST = "www.allowed.test";
    private static final List<String> ALL = List.of("0.0.0.0/0");
    private static final Egress OBSERVED = new Egress(true, List.of(), List.of(), Map.of(), null, false, true);
    private static final Egress NAMED = named("www.allowed.test");

    /// Sends requests on one connection and prints the status and server of each.
    private static final String TWO_HOSTS = """
            import http.client, sys
            c = http.client.HTTPConnection(sys.argv[1], 80, timeout=8)
            for host in sys.argv[2:]:
                c.putrequest('GET', '/', skip_host=True); c.putheader('Host', host); c.endheaders()
                r = c.getresponse(); body = r.read().decode()
                print(r.status, '6.6.6.3' if '"server": "6.6.6.3"' in body else '6.6.6.2' if '6.6.6.2"' in body else '-')
            """;

    /// TLS with a name of its own choice, or none; prints the first line of the answer.
    private static final String TLS = """
            import socket, ssl, sys, time
            address, sni, host, pieces = sys.argv[1:5]
            tls = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT); tls.check_hostname = False; tls.verify_mode = ssl.CERT_NONE
            if pieces == 'large': tls.set_alpn_protocols(['x' * 200 + str(i) for i in range(170)])
            incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
            o = tls.wrap_bio(incoming, outgoing, server_hostname=sni or None)
            s = socket.create_connection((address, 443), 8); s.settimeout(8)
            s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            def flush():
                data = outgoing.read()
                if pieces == 'slow':
                    time.sleep(1)
                if pieces == 'split':
                    for i in range(0, len(data), 40): s.sendall(data[i:i + 40]); time.sleep(0.005)
                else: s.sendall(data)
            def fill():
                data = s.recv(65536)
                if not data: raise OSError('closed')
                incoming.write(data)
            def run(action):
                while True:
                    try:
                        result = action(); flush() if outgoing.pending else None
                        return result
                    except ssl.SSLWantReadError:
                        flush() if outgoing.pending else None
                        fill()
            try:
                run(o.do_handshake)
                run(lambda: o.write(('GET / HTTP/1.1\\r\\nHost: %s\\r\\nConnection: close\\r\\n\\r\\n' % host).encode()))
                print(run(lambda: o.read(4096)).decode().split('\\r\\n')[0])
            except OSError as e: print('error', e)
            """;

    /// More plain connections than the node has ports for, and one whose TLS is opened; prints for each request whether
    /// the server got the header of the rule.
    private static final String ONE_PORT = """
            import http.client, json, socket, ssl, sys
            address, host = sys.argv[1:3]
            def ask(c):
                c.request('GET', '/', headers={'Host': host}); r = c.getresponse(); body = r.read()
                return json.loads(body)['headers'].get('x-token', 'none') if r.status == 200 else str(r.status)
            plain = [http.client.HTTPConnection(address, 80, timeout=8) for _ in range(4)]
            print(*[ask(c) for c in plain])
            tls = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT); tls.check_hostname = False; tls.verify_mode = ssl.CERT_NONE
            opened = http.client.HTTPConnection(address, 443, timeout=8)
            opened.sock = tls.wrap_socket(socket.create_connection((address, 443), 8), server_hostname=host)
            print(ask(opened))
            print(*[ask(c) for c in plain])
            """;

    /// Asks the node for a name; prints the code of the answer and how many records it has.
    private static final String NAME = """
            import socket, struct, sys
            gateway, name, kind = sys.argv[1:4]
            labels = b''.join(bytes([len(l)]) + l.encode() for l in name.split('.'))
            s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.settimeout(8)
            s.sendto(struct.pack('>6H', 7, 256, 1, 0, 0, 0) + labels + b'\\0' + struct.pack('>2H', int(kind), 1), (gateway, 53))
            said = s.recv(4096); print(said[3] & 15, struct.unpack('>H', said[6:8])[0])
            """;

    /// A lab takes seconds to build. Every case begins with rules of its own, so most need none for themselves.
    private static EgressLab shared;

    private EgressLab lab;

    @BeforeAll
    static void build() throws Exception {
        shared = freshLab();
    }

    private static EgressLab freshLab() throws Exception {
        return new EgressLab("10.1.2.3:443");
    }

    @AfterAll
    static void remove() {
        if (shared != null) {
            shared.close();
        }
    }

    @BeforeEach
    void enter() {
        lab = shared;
    }

    @AfterEach
    void leave() {
        if (lab != shared) {
            lab.close();
        }
    }

    private static Egress named(String... allow) {
        return new Egress(true, List.of(allow), ALL, Map.of(), null, false, false);
    }

    private static Egress inspected(String... allow) {
        return new Egress(true, List.of(allow), ALL, Map.of(), null, true, false);
    }

    private String tls(String address, String sni) {
        return lab.python(TLS, address, sni, sni.isEmpty() ? "x" : sni, "whole");
    }

    @Test
    void connectsToTheNameAndNotToTheAddressThatTheSandboxChose() throws Exception {
        lab.put(NAMED);
        assertThat(lab.curl("--resolve", HOST + ":443:" + GOOD, "https://" + HOST + "/x"))
                .contains("\"path\": \"/x\"");
        assertThat(lab.curl("--resolve", HOST + ":443:" + EVIL, "https://" + HOST + "/x"))
                .as("an allowed name at a foreign address")
                .contains("\"server\": \"" + GOOD);
        assertThat(lab.python(TLS, GOOD, HOST, HOST, "split"))
                .as("a hello in pieces")
                .isEqualTo("HTTP/1.1 200 OK");
        assertThat(tls(EVIL, "evil.test")).as("another name").startsWith("error");
        assertThat(tls(GOOD, "evil.test")).as("another name at a good address").startsWith("error");
        assertThat(tls(GOOD, "")).as("no name").startsWith("error");

        lab.put(named(GOOD));
        assertThat(tls(GOOD, "")).as("no name at an allowed address").isEqualTo("HTTP/1.1 200 OK");
        assertThat(tls(EVIL, "")).startsWith("error");

        lab.put(named(GOOD, HOST));
        assertThat(tls(GOOD, ""))
                .as("no name at an allowed address, through the node")
                .isEqualTo("HTTP/1.1 200 OK");
        assertThat(tls(EVIL, "")).startsWith("error");

        lab.put(OBSERVED);
        assertThat(tls(EVIL, "evil.test")).as("the control").isEqualTo("HTTP/1.1 200 OK");
        assertThat(tls(GOOD, "")).as("the control").isEqualTo("HTTP/1.1 200 OK");
    }

    @Test
    void judgesEveryRequestOfAConnection() throws Exception {
        lab.put(NAMED);
        assertThat(lab.python(TWO_HOSTS, GOOD, HOST, "evil.test", HOST)).isEqualTo("200 6.6.6.2\n403 -\n200 6.6.6.2");
        assertThat(lab.python(TWO_HOSTS, EVIL, HOST)).isEqualTo("200 6.6.6.2");
        lab.put(named(HOST, "other.allowed.test"));
        assertThat(lab.python(TWO_HOSTS, GOOD, HOST, "other.allowed.test"))
                .as("two servers on one connection")
                .isEqualTo("200 6.6.6.2\n200 6.6.6.3");
        lab.put(OBSERVED);
        assertThat(lab.python(TWO_HOSTS, EVIL, HOST, "evil.test"))
                .as("the control")
                .isEqualTo("200 6.6.6.3\n200 6.6.6.3");
    }

    /// The kernel gives one local port to connections whose destinations differ. The host here has four ports, so a
    /// connection whose TLS is opened gets the port of a plain one.
    @Test
    void tellsConnectionsApartThatHaveOneLocalPort() throws Exception {
        lab = freshLab();
        var transform = new Egress.Transform(Map.of("X-Token", "plain"), null);
        lab.put(new Egress(true, List.of(HOST), ALL, Map.of(HOST, transform), null, false, false));
        lab.lab.onHost.require(Duration.ofSeconds(10), "sysctl", "-qw", "net.ipv4.ip_local_port_range=40000 40003");
        assertThat(lab.python(ONE_PORT, GOOD, HOST)).isEqualTo("none none none none\nplain\nnone none none none");
    }

    /// Questions for names can carry data out.
    @Test
    void asksForNoNamesWhereAddressesAloneAreAllowed() throws Exception {
        var transform = Map.of(HOST, new Egress.Transform(Map.of("X-Token", "plain"), null));
        var proxy = new EgressProxy(GOOD + ":1080", "u", "p");
        var only = List.of(GOOD);
        for (var egress : List.of(
                new Egress(true, only, ALL, Map.of(), null, false, true),
                new Egress(true, only, ALL, Map.of(), null, true, false),
                new Egress(true, only, ALL, Map.of(), proxy, false, false),
                new Egress(true, only, ALL, transform, null, false, false))) {
            lab.put(egress);
            assertThat(name("data.evil.test", 16)).as("%s", egress).isEqualTo("5 0");
            assertThat(name("evil.test", 1)).as("%s", egress).isEqualTo("5 0");
        }
        assertThat(name(HOST, 1)).as("a host of the rules").isEqualTo("0 1");
        assertThat(name(HOST, 16)).as("a host of the rules").isEqualTo("0 0");
        lab.put(OBSERVED);
        assertThat(name("evil.test", 1)).as("the control").isEqualTo("0 1");
    }

    private String name(String name, int type) {
        return lab.python(NAME, lab.lab.plan.gateway(), name, Integer.toString(type));
    }

    @Test
    void passesNoOtherProtocolByAName() throws Exception {
        String banner = """
                import socket, sys
                try:
                    s = socket.create_connection((sys.argv[1], 25), 8); s.settimeout(12)
                    print(s.recv(100).decode().strip() or 'closed')
                except OSError as e: print('error', e)
                """;
        lab.put(named("*"));
        assertThat(lab.python(banner, GOOD)).doesNotContain("220");
        lab.put(named("*", GOOD + ":25"));
        assertThat(lab.python(banner, GOOD)).as("a server that speaks first").isEqualTo("220 hello");
        lab.put(OBSERVED);
        assertThat(lab.python(banner, GOOD)).as("the control").isEqualTo("220 hello");
        var connect = new String[] {"-p", "-x", GOOD + ":80", "https://evil.test/"};
        lab.put(named(HOST));
        assertThat(lab.curl(connect)).startsWith("error");
    }

    @Test
    void neverConnectsToAPrivateAddress() throws Exception {
        lab.put(named("*", "10.0.0.0/8"));
        assertThat(lab.python(TWO_HOSTS, GOOD, "private.test")).as("by name").isEqualTo("403 -");
        assertThat(lab.curl("http://10.1.2.3/")).as("by address").startsWith("Cay: ");
        assertThat(lab.curl("-k", "--resolve", "mirror.test:443:" + GOOD, "https://mirror.test/"))
                .as("the control: a place that the operator opened")
                .contains("\"server\": \"10.1.2.3\"");
        String rebind = "rebind.allowed.test";
        assertThat(lab.python(TWO_HOSTS, GOOD, rebind)).as("the first answer").isEqualTo("200 6.6.6.2");
        assertThat(lab.python(TWO_HOSTS, GOOD, rebind)).as("the second answer").isEqualTo("403 -");
    }

    @Test
    void opensTlsAndSetsHeaders() throws Exception {
        var transform =
                new Egress.Transform(Map.of("X-Token", "plain", "Authorization", "Bearer ${e2b.secrets.known}"), null);
        lab.put(new Egress(true, List.of(HOST), ALL, Map.of(HOST, transform), null, false, false));
        for (String version : List.of("--http1.1", "--http2")) {
            String said = lab.curl(
                    version,
                    "-v",
                    "-H",
                    "authorization: mine",
                    "-H",
                    "x-other: kept",
                    "--resolve",
                    HOST + ":443:" + EVIL,
                    "https://" + HOST + "/h");
            assertThat(said)
                    .contains("\"x-token\": \"plain\"")
                    .as("the server got the secret and repeats it; inside nobody sees it")
                    .contains("Bearer " + "*".repeat(EgressLab.SECRET.length()))
                    .doesNotContain(EgressLab.SECRET)
                    .contains("\"x-other\": \"kept\"")
                    .contains("issuer: CN=Cay egress authority")
                    .contains(version.equals("--http2") ? "HTTP/2 200" : "HTTP/1.1 200")
                    .containsIgnoringCase("set-cookie: a=b; Domain=allowed.test")
                    .doesNotContain("\"authorization\": \"mine\"");
        }
        String node = """
                const c = require('http2').connect('https://www.allowed.test', {rejectUnauthorized: false,
                    lookup: (h, o, cb) => o.all ? cb(null, [{address: '6.6.6.2', family: 4}]) : cb(null, '6.6.6.2', 4)})
                c.on('error', e => { console.log('error', e.message); process.exit(0) })
                const r = c.request({':path': '/n', ':authority': process.argv[1], ':method': 'POST'})
                let body = ''; r.on('response', h => console.log(h[':status'])); r.on('data', d => body += d)
                r.on('end', () => { console.log(body); c.close() }); r.end('x'.repeat(100000))
                """;
        assertThat(lab.inside("node", "-e", node, HOST).output())
                .startsWith("200")
                .contains("\"x-token\": \"plain\"");
        assertThat(lab.inside("node", "-e", node, "evil.test").output()).startsWith("421");
        assertThat(lab.inside("stat", "-c", "%a %U", lab.directory + "/egress/ca.key")
                        .output()
                        .strip())
                .isEqualTo("600 root");

        var unknown = new Egress.Transform(Map.of("X-Token", "${e2b.secrets.other}"), null);
        lab.put(new Egress(true, List.of(HOST), ALL, Map.of("*.allowed.test", unknown), null, false, false));
        assertThat(lab.curl("-w", "%{http_code}", "--resolve", HOST + ":443:" + GOOD, "https://" + HOST + "/h"))
                .contains("${e2b.secrets.other}")
                .endsWith("502");
    }

    /// By the mark the edge of this Cay knows requests that must not reach a sandbox.
    @Test
    void marksRequestsWithSecretsWhateverTheSandboxSays() throws Exception {
        var header = new Egress.Transform(Map.of("Authorization", "Bearer ${e2b.secrets.known}"), null);
        var fill = new Egress.Transform(
                Map.of(), null, new Egress.Fill(Set.of("known"), EnumSet.allOf(Egress.Place.class)));
        String mark = "\"cdn-loop\": \"mark-" + HOST + "\"";
        for (String version : List.of("--http1.1", "--http2")) {
            var ask = List.of(
                    version,
                    "-H",
                    "CDN-Loop: \"broken",
                    "-H",
                    "Connection: cdn-loop",
                    "--resolve",
                    HOST + ":443:" + GOOD);
            lab.put(new Egress(true, List.of(HOST), ALL, Map.of(HOST, header), null, false, false));
            assertThat(ask(ask, "https://" + HOST + "/h"))
                    .contains("\"authorization\"", mark)
                    .doesNotContain("broken");
            lab.put(new Egress(true, List.of(HOST), ALL, Map.of(HOST, fill), null, false, false));
            assertThat(ask(ask, "https://" + HOST + "/h")).as("without a value").doesNotContain(mark);
            String placeholder = "${e2b.secrets.known}";
            assertThat(ask(ask, "https://" + HOST + "/h", "-H", "X-Key: " + placeholder))
                    .contains("***", mark);
            assertThat(ask(ask, "https://" + HOST + "/h", "-G", "--data-urlencode", "k=" + placeholder))
                    .contains("***", mark);
            assertThat(ask(ask, "https://" + HOST + "/h", "-d", placeholder)).contains(mark);
        }
    }

    private String ask(List<String> options, String... more) {
        return lab.curl(Stream.concat(options.stream(), Stream.of(more)).toArray(String[]::new));
    }

    @Test
    void believesNoServerThatTheHostDoesNotTrust() throws Exception {
        lab.put(inspected("evil.test"));
        assertThat(lab.curl("-w", "%{http_code}", "--resolve", "evil.test:443:" + EVIL, "https://evil.test/"))
                .contains("certificate")
                .endsWith("502");
        lab.put(named("evil.test"));
        assertThat(lab.curl("--resolve", "evil.test:443:" + EVIL, "https://evil.test/"))
                .contains("\"server\": \"" + EVIL);
    }

    /// Behind an allowed name another one can be asked for, unless TLS is opened.
    @Test
    void refusesFrontingWhereTlsIsOpened() throws Exception {
        lab.put(inspected(HOST));
        assertThat(lab.python(TLS, GOOD, HOST, "evil.test", "whole")).startsWith("HTTP/1.1 421");
        assertThat(lab.python(TLS, GOOD, HOST, HOST, "whole")).startsWith("HTTP/1.1 200");
        lab.put(NAMED);
        assertThat(lab.python(TLS, GOOD, HOST, "evil.test", "whole"))
                .as("not seen")
                .startsWith("HTTP/1.1 200");
    }

    /// At an address that is allowed as such, what is no TLS passes unread.
    @Test
    void refusesAHelloThatItCannotReadWhereTlsIsOpened() throws Exception {
        lab.put(inspected(GOOD));
        assertThat(lab.python(TLS, GOOD, HOST, HOST, "large"))
                .as("larger than what is looked at")
                .startsWith("error");
        assertThat(lab.python(TLS, GOOD, HOST, HOST, "split")).startsWith("HTTP/1.1 200");
        lab.put(OBSERVED);
        assertThat(lab.python(TLS, GOOD, HOST, HOST, "large")).as("the control").startsWith("HTTP/1.1 200");
    }

    /// A client that waits until the node does not wait any more is not inspected, and therefore cut.
    @Test
    void cutsAClientThatBeginsTlsTooLate() throws Exception {
        lab.put(new Egress(true, List.of(), List.of(), Map.of(), null, true, false));
        assertThat(lab.python(TLS, GOOD, HOST, HOST, "slow")).startsWith("error");
        lab.put(OBSERVED);
        assertThat(lab.python(TLS, GOOD, HOST, HOST, "slow")).as("the control").startsWith("HTTP/1.1 200");
    }

    @Test
    void leavesByTheProxyAndByNothingElse() throws Exception {
        var web = new String[] {"--resolve", HOST + ":443:" + GOOD, "https://" + HOST + "/"};
        lab.put(proxied(new EgressProxy(GOOD + ":1080", "u", "p")));
        assertThat(lab.curl(web)).contains("\"peer\": \"" + GOOD);
        assertThat(lab.internet.until("socks").getLast()).isEqualTo("socks 1 " + GOOD + " 443");
        lab.put(proxied(new EgressProxy("www.allowed.test:1080", "u", "p")));
        assertThat(lab.curl(web)).as("a proxy by its name").contains("\"peer\": \"" + GOOD);
        lab.put(proxied(new EgressProxy(GOOD + ":1080", "u", "wrong")));
        assertThat(lab.curl(web)).startsWith("error");
        lab.put(proxied(new EgressProxy(GOOD + ":1081", "u", "p")));
        assertThat(lab.curl(web)).as("no proxy there").startsWith("error");
        lab.put(proxied(new EgressProxy("10.1.2.3:1080", "u", "p")));
        assertThat(lab.curl(web)).as("a private proxy").startsWith("error");
        lab.put(OBSERVED);
        assertThat(lab.curl(web)).as("the control").contains("\"peer\": \"" + NetworkLab.HOST_PUBLIC);
    }

    private static Egress proxied(EgressProxy proxy) {
        return new Egress(true, List.of(), List.of(), Map.of(), proxy, false, false);
    }

    @Test
    void cutsConnectionsThatOtherRulesDoNotAllow() throws Exception {
        lab.put(named(GOOD + ":25", "x.test"));
        try (var open = lab.lab.open(lab.sandbox, "tcp", GOOD, 25, "", "")) {
            assertThat(open.line()).isEqualTo("220 hello");
            lab.put(named(GOOD + ":25", HOST));
            assertThat(open.say("still allowed")).isEqualTo("still allowed");
            lab.put(NAMED);
            assertThat(open.say("not any more")).startsWith("error");
        }
    }

    @Test
    void refusesWhileNobodyListensAndGoesOnAfterwards() throws Exception {
        lab.put(NAMED);
        var web = new String[] {"--resolve", HOST + ":443:" + GOOD, "https://" + HOST + "/"};
        assertThat(lab.curl(web)).contains("\"server\"");
        lab.killNode();
        assertThat(lab.curl(web)).startsWith("error");
        assertThat(tls(EVIL, "evil.test")).startsWith("error");
        lab.restartNode();
        assertThat(tls(EVIL, "evil.test"))
                .as("before the rules are there again")
                .startsWith("error");
        lab.put(NAMED);
        assertThat(lab.curl(web)).contains("\"server\"");
        assertThat(tls(EVIL, "evil.test")).startsWith("error");
    }

    @Test
    void remembersWhatWasTried() throws Exception {
        lab = freshLab();
        lab.put(NAMED);
        lab.curl("--resolve", HOST + ":443:" + GOOD, "https://" + HOST + "/");
        tls(EVIL, "evil.test");
        lab.python(TWO_HOSTS, GOOD, HOST, "evil.test");
        String seen = lab.order("seen");
        assertThat(seen)
                .contains(
                        "\"protocol\":\"tls\",\"name\":\"www.allowed.test\",\"address\":\"6.6.6.2\",\"port\":443,\"allowed\":true,\"match\":\"domain\",\"attempts\":1")
                .contains(
                        "\"protocol\":\"tls\",\"name\":\"evil.test\",\"address\":\"6.6.6.3\",\"port\":443,\"allowed\":false,\"match\":\"none\"")
                .contains("\"protocol\":\"http\",\"name\":\"evil.test\"")
                .doesNotContain("\"sent\":0,\"received\":0,\"x\"");
    }

    @Test
    void remembersWhereOpenedConnectionsLedAndWhatTheyRefused() throws Exception {
        try (var fresh = freshLab()) {
            lab = fresh;
            lab.put(inspected(HOST, "private.test"));
            lab.curl("--resolve", HOST + ":443:" + EVIL, "https://" + HOST + "/");
            assertThat(lab.order("seen"))
                    .as("not the address that the sandbox chose")
                    .contains(
                            "\"name\":\"www.allowed.test\",\"address\":\"6.6.6.2\",\"port\":443,\"allowed\":true,\"match\":\"domain\"")
                    .doesNotContain("6.6.6.3");
            assertThat(lab.python(TLS, GOOD, HOST, "evil.test", "whole")).startsWith("HTTP/1.1 421");
            assertThat(lab.order("seen"))
                    .contains(
                            "\"protocol\":\"http\",\"name\":\"evil.test\",\"address\":\"6.6.6.2\",\"port\":443,\"allowed\":false");
            lab.curl("--resolve", "private.test:8443:" + GOOD, "https://private.test:8443/");
            assertThat(lab.order("seen"))
                    .contains("\"name\":\"private.test\",\"address\":\"6.6.6.2\",\"port\":8443,\"allowed\":false");
        }
    }

    /// Prints nothing: what is sent gets no answer.
    private static final String PACKETS = """
            import socket, sys
            address, private = sys.argv[1:3]
            def tcp(host, port):
                try: socket.create_connection((host, port), 1).close()
                except OSError: pass
            echo = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)
            try: echo.sendto(b'\\x08\\x00\\xf7\\xff' + bytes(4), (address, 0))
            except OSError: pass
            tcp(address, 443); tcp(private, 8080)
            for _ in range(500):
                try: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', (address, 5353))
                except OSError: pass
            """;

    @Test
    void remembersWhatTheKernelRefused() throws Exception {
        try (var fresh = freshLab()) {
            lab = fresh;
            lab.put(new Egress(true, List.of(GOOD), ALL, Map.of(), null, false, false));
            lab.python(PACKETS, EVIL, "10.1.2.3");
            awaitSeen("\"protocol\":\"tcp\",\"address\":\"6.6.6.3\",\"port\":443,\"allowed\":false");
            awaitSeen("\"protocol\":\"tcp\",\"address\":\"10.1.2.3\",\"port\":8080,\"allowed\":false");
            awaitSeen("\"protocol\":\"icmp\",\"address\":\"6.6.6.3\",\"port\":0,\"allowed\":false");
            awaitSeen("\"protocol\":\"udp\",\"address\":\"6.6.6.3\",\"port\":5353,\"allowed\":false");
            assertThat(lab.order("seen")).as("not every packet is told").doesNotContain("\"attempts\":500");
            assertThat(lab.python(NAME, lab.lab.plan.gateway(), "data.evil.test", "16"))
                    .startsWith("5");
            awaitSeen("\"protocol\":\"dns\",\"name\":\"data.evil.test\",\"port\":53,\"allowed\":false");

            lab.put(Egress.closed());
            lab.curl("-m", "2", "http://" + GOOD + ":81/");
            awaitSeen("\"protocol\":\"tcp\",\"address\":\"6.6.6.2\",\"port\":81,\"allowed\":false");
        }
    }

    /// The kernel collects what it tells for a second.
    private void awaitSeen(String entry) throws Exception {
        var seen = new AtomicReference<>("");
        Await.until(() -> "%s in what is seen: %s".formatted(entry, seen), () -> {
            seen.set(lab.order("seen"));
            return seen.get().contains(entry);
        });
    }

    @Test
    void keepsTheKeyOfItsAuthorityToItself() throws Exception {
        lab.put(inspected(HOST));
        var mode = Files.getPosixFilePermissions(lab.directory.resolve("egress/ca.key"));
        assertThat(PosixFilePermissions.toString(mode)).isEqualTo("rw-------");
        String before = Files.readString(lab.directory.resolve("egress/ca.pem"));
        lab.killNode();
        lab.restartNode();
        assertThat(Files.readString(lab.directory.resolve("egress/ca.pem"))).isEqualTo(before);
    }
}
