package dev.cay.node.network;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.testing.NeedsRoot;
import dev.cay.wire.node.Egress;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/// Calls of gRPC, which need HTTP/2 and trailers, through TLS that the node opens. Client and servers are Node's.
@NeedsRoot
class EgressGrpcTest {
    private static final String HOST = "www.allowed.test";

    /// Shows the certificate of the allowed host at both addresses.
    private static final String SERVERS = """
            const pem = require('fs').readFileSync(process.argv[1] + '/allowed/server.pem')
            let listening = 0
            for (const address of process.argv.slice(2)) {
              const server = require('http2').createSecureServer({ key: pem, cert: pem })
              server.on('stream', (stream, head) => {
                const got = []
                stream.on('data', (data) => got.push(data))
                stream.on('end', () => {
                  stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true })
                  stream.on('wantTrailers', () =>
                    stream.sendTrailers({ 'grpc-status': '7', 'grpc-message': 'to ' + head.authorization }))
                  stream.write(Buffer.concat(got))
                  stream.end([head[':scheme'], head[':authority'], head['x-token'], head.authorization].join(' '))
                })
              })
              server.listen(8443, address, () => ++listening === 2 && console.log('READY'))
            }
            """;

    private static final String CLIENT = """
            const [host, port, authority, address] = process.argv.slice(1)
            const client = require('http2').connect('https://' + host + ':' + port, {
              rejectUnauthorized: false,
              lookup: (_, o, done) => o.all ? done(null, [{ address, family: 4 }]) : done(null, address, 4) })
            client.on('error', (e) => { console.log('error', e.message); process.exit(0) })
            const head = { ':method': 'POST', ':path': '/lab.Lab/Call', ':authority': authority + ':' + port,
              'content-type': 'application/grpc', te: 'trailers' }
            const call = client.request(head)
            let size = 0, end = ''
            call.on('response', (answer) => console.log(answer[':status']))
            call.on('data', (data) => { size += data.length; end = (end + data).slice(-200) })
            call.on('trailers', (last) => console.log(last['grpc-status'], last['grpc-message']))
            call.on('error', (e) => console.log('error', e.message))
            call.on('close', () => { console.log(size, end.replace(/^x*/, '')); client.close() })
            call.end('x'.repeat(3000000))
            """;

    private static EgressLab lab;
    private static NetworkLab.Talker servers;

    @BeforeAll
    static void open() throws Exception {
        lab = new EgressLab();
        servers = lab.lab.run(
                lab.lab.internet,
                List.of("node", "-e", SERVERS, lab.directory.toString(), NetworkLab.PUBLIC, EgressLab.EVIL));
        assertThat(servers.line()).isEqualTo("READY");
    }

    @AfterAll
    static void close() {
        if (servers != null) {
            servers.close();
        }
        if (lab != null) {
            lab.close();
        }
    }

    private void allow(String host) throws Exception {
        var transform =
                new Egress.Transform(Map.of("X-Token", "plain", "Authorization", "Bearer ${e2b.secrets.known}"), null);
        var rules = host.equals(HOST) ? Map.of(host, transform) : Map.<String, Egress.Transform>of();
        lab.put(new Egress(true, List.of(host), List.of("0.0.0.0/0"), rules, null, true, false));
    }

    private String call(String host, int port, String authority) {
        return lab.inside("node", "-e", CLIENT, host, "" + port, authority, NetworkLab.PUBLIC)
                .output()
                .strip();
    }

    @Test
    void passesCallsWithHeadersAndTrailers() throws Exception {
        allow(HOST);
        String struck = "*".repeat(EgressLab.SECRET.length());
        String said = "https %s:8443 plain Bearer %s".formatted(HOST, struck);
        assertThat(call(HOST, 8443, HOST))
                .as("the server got the secret; what it repeats of it is struck out, of trailers too")
                .isEqualTo("200\n7 to Bearer %s\n%d %s".formatted(struck, 3_000_000 + said.length(), said));
        assertThat(call(HOST, 8443, "evil.test")).as("for another host").startsWith("421");
    }

    @Test
    void passesNoCallToAServerWithoutHttp2OrWithAForeignCertificate() throws Exception {
        allow(HOST);
        assertThat(call(HOST, 443, HOST)).as("HTTP/1.1 alone").startsWith("502");
        allow("evil.test");
        assertThat(call("evil.test", 8443, "evil.test"))
                .as("a trusted certificate, of another host")
                .startsWith("502");
    }
}
