package dev.cay.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.cay.http.HttpListeners;
import dev.cay.testing.Fast;
import dev.cay.wire.SandboxId;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.channels.ServerSocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.junit.jupiter.api.Test;

/// What code in one sandbox reaches of others through the edge on its loopback.
@Fast
final class CrossingTest extends ServerTest {
    private static final String BARRED = "{\"templateID\":\"base\",\"allow_internet_access\":false}";

    @Test
    void aBarredSandboxReachesOnlyItself() throws Exception {
        String barred = cay.create(BARRED).get("sandboxID").stringValue();
        String free = cay.create();
        assertThat(status(barred, barred)).isEqualTo(200);
        assertThat(status(free, barred)).isEqualTo(200);
        assertThat(status(barred, free)).isEqualTo(403);
        // What is not there looks as what is: a barred sandbox cannot ask which sandboxes there are.
        assertThat(status(barred, "i00000000000000000000")).isEqualTo(403);
    }

    @Test
    void accessThatIsTakenAwayAndGivenBackCountsAtOnce() throws Exception {
        String caller = cay.create();
        String other = cay.create();
        assertThat(status(caller, other)).isEqualTo(200);
        setInternet(caller, false);
        assertThat(status(caller, other)).isEqualTo(403);
        setInternet(caller, true);
        assertThat(status(caller, other)).isEqualTo(200);
    }

    /// Another sandbox must not be a way around the rules.
    @Test
    void aSandboxWhoseRulesDenyTheRestReachesWhatTheyAllow() throws Exception {
        String other = cay.create();
        String another = cay.create();
        String ruled = cay.create("""
                {"templateID":"base","network":{"allowOut":["1.1.1.1","example.org","3000-%s.cay.test"],
                 "denyOut":["0.0.0.0/0"]}}""".formatted(other)).get("sandboxID").stringValue();
        assertThat(status(ruled, ruled)).isEqualTo(200);
        assertThat(status(ruled, other)).isEqualTo(200);
        assertThat(status(ruled, another)).isEqualTo(403);
        var headers = Map.of("Host", "example.org", "E2b-Sandbox-Id", another, "E2b-Sandbox-Port", "3000");
        assertThat(cay.requestFromInside(new SandboxId(ruled), "/", headers).status())
                .as("the name that counts is that of the sandbox")
                .isIn(403, 404);
    }

    /// The other sandbox reaches what this one is denied, and leaves without its proxy.
    @Test
    void aSandboxWithADenialOrAProxyReachesNoOtherThatItDoesNotName() throws Exception {
        String other = cay.create();
        for (String network : new String[] {
            "{\"denyOut\":[\"8.8.8.0/24\"]}",
            "{\"denyOut\":[\"8.8.8.0/24\"],\"allowOut\":[\"8.8.8.8\"]}",
            "{\"egressProxy\":{\"address\":\"8.8.8.8:1080\"}}"
        }) {
            String ruled = ruled(network);
            assertThat(status(ruled, ruled)).as(network).isEqualTo(200);
            assertThat(status(ruled, other)).as(network).isEqualTo(403);
        }
        String named =
                "{\"denyOut\":[\"0.0.0.0/0\"],\"allowOut\":[\"*.cay.test\"],\"egressProxy\":{\"address\":\"8.8.8.8:1080\"}}";
        assertThat(status(ruled(named), other)).as("named").isEqualTo(200);
        assertThat(status(ruled("{\"observe\":true,\"inspect\":true}"), other))
                .as("nothing is denied")
                .isEqualTo(200);
    }

    private String ruled(String network) {
        return cay.create("{\"templateID\":\"base\",\"network\":%s}".formatted(network))
                .get("sandboxID")
                .stringValue();
    }

    @Test
    void aRuleThatRedirectsLeadsToTheOtherSandbox() throws Exception {
        String asked = cay.create();
        String meant = cay.create();
        var from = new SandboxId(ruled(
                "{\"rules\":{\"3000-%s.cay.test\":[{\"transform\":{\"headers\":{\"X-A\":\"b\"},\"redirect\":\"4000-%s.cay.test\"}}]}}"
                        .formatted(asked, meant)));
        var host = Map.of("Host", "3000-%s.cay.test".formatted(asked));
        var led = cay.requestFromInsideByTls(from, directory, "/", host);
        assertThat(led.status()).as(led.text()).isEqualTo(200);
        assertThat(led.json().get("sandbox").stringValue()).isEqualTo(meant);
        assertThat(led.json().get("port").intValue()).isEqualTo(4000);
        assertThat(led.json().get("host").stringValue()).isEqualTo("4000-%s.cay.test".formatted(meant));
        assertThat(led.json().at("/set/X-A").stringValue()).isEqualTo("b");
        assertThat(cay.requestFromInside(from, "/", host).json().get("sandbox").stringValue())
                .as("rules act on https alone")
                .isEqualTo(asked);

        var away =
                new SandboxId(ruled("{\"rules\":{\"*.cay.test\":[{\"transform\":{\"redirect\":\"example.org\"}}]}}"));
        var refused = cay.requestFromInsideByTls(away, directory, "/", host);
        assertThat(refused.status()).isEqualTo(502);
        assertThat(refused.message()).contains("redirects to example.org");
        var nobody = new SandboxId(ruled(
                "{\"rules\":{\"*.cay.test\":[{\"transform\":{\"redirect\":\"80-i00000000000000000000.cay.test\"}}]}}"));
        assertThat(cay.requestFromInsideByTls(nobody, directory, "/", host).status())
                .as("a sandbox that is not of the team")
                .isEqualTo(502);
    }

    @Test
    void noSandboxReachesAnotherTeams() throws Exception {
        String ours = cay.create();
        String theirs = cay.create();
        assertThat(status(ours, theirs)).isEqualTo(200);
        cay.close();
        cay = TestServer.again(
                directory,
                cay,
                store -> store.write(handle -> {
                    handle.execute("INSERT INTO team (id, name, slug, created_at) VALUES ('t2', 'b', 'b', 9e15)");
                    return handle.execute("UPDATE sandbox SET team_id = 't2' WHERE id = ?", theirs);
                }));
        assertThat(status(ours, theirs)).isEqualTo(502);
        assertThat(status(theirs, ours)).isEqualTo(502);
        assertThat(status(theirs, theirs)).isEqualTo(200);
    }

    /// Side sandboxes without internet access come under an id that the server has never seen.
    @Test
    void anUnknownSandboxReachesNothing() throws Exception {
        String stranger = "i11111111111111111111";
        assertThat(status(stranger, cay.create())).isEqualTo(403);
        assertThat(status(stranger, stranger)).isEqualTo(403);
    }

    @Test
    void openRequestsAreCutWhenTheAccessIsTakenAway() throws Exception {
        String caller = cay.create();
        String other = cay.create();
        var listening = ServerSocketChannel.open().bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
        var address = (InetSocketAddress) listening.getLocalAddress();
        try (var listeners = new HttpListeners();
                var _ = listeners.adopt(listening, new SandboxId(caller), cay.server.frontDoor());
                var toOther = begin(address, other);
                var toItself = begin(address, caller)) {
            TestServer.await("both requests are under way", () -> cay.reached.get() == 2);
            setInternet(caller, false);
            assertThatThrownBy(() -> toOther.getInputStream().read())
                    .isInstanceOf(SocketException.class)
                    .hasMessageContaining("reset");
            toItself.getOutputStream().write('x');
            var answer = new byte[12];
            assertThat(toItself.getInputStream().readNBytes(answer, 0, 12)).isEqualTo(12);
            assertThat(new String(answer, StandardCharsets.US_ASCII)).isEqualTo("HTTP/1.1 200");
        }
    }

    /// Sends a request whose body is not complete yet.
    private static Socket begin(InetSocketAddress address, String target) throws Exception {
        var socket = new Socket(address.getAddress(), address.getPort());
        socket.setSoTimeout(60_000);
        socket.getOutputStream()
                .write("POST / HTTP/1.1\r\nHost: 3000-%s.cay.test\r\nContent-Length: 1\r\n\r\n"
                        .formatted(target)
                        .getBytes(StandardCharsets.US_ASCII));
        return socket;
    }

    private int status(String from, String to) throws Exception {
        return cay.requestFromInside(new SandboxId(from), "/", Map.of("Host", "3000-" + to + ".cay.test"))
                .status();
    }

    private void setInternet(String id, boolean allowed) {
        var answer = cay.call("PUT", "/sandboxes/" + id + "/network", "{\"allow_internet_access\":" + allowed + "}");
        assertThat(answer.status()).isEqualTo(204);
    }
}
