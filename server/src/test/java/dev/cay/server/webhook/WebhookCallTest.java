package dev.cay.server.webhook;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.testing.Fast;
import dev.cay.web.Addresses;
import dev.cay.web.Dialer;
import dev.cay.web.Lines;
import dev.cay.wire.TeamId;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import javax.net.ssl.SSLContext;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// One request to a receiver, and what it is taken for.
@Fast
@Timeout(60)
final class WebhookCallTest {
    private static final Duration LIMIT = Duration.ofSeconds(1);

    private final SecureRandom random = new SecureRandom();
    private final SigningSecrets secrets = new SigningSecrets(key(), random);

    private byte[] key() {
        byte[] key = new byte[32];
        random.nextBytes(key);
        return key;
    }

    private Webhook webhook(String url) {
        return new Webhook(
                "w1",
                new TeamId("t1"),
                "n",
                url,
                List.of("sandbox.lifecycle.created"),
                secrets.seal("w1", "secret"),
                true,
                Instant.EPOCH,
                null,
                null,
                null);
    }

    private Attempt send(Lines lines, String url) {
        return new WebhookCall(_ -> lines, secrets, InstantSource.system(), LIMIT)
                .send(webhook(url), "e1", "{\"id\":\"1\"}");
    }

    private static Dialer dialer(Dialer.Names names, String... allowed) throws Exception {
        var rules = new Dialer.Rules(Addresses.allowing(List.of(allowed)), Set.of(), true, "webhooks.allow");
        return new Dialer(rules, names, SSLContext.getDefault());
    }

    /// Answers every connection with these bytes, and counts them.
    private static final class Peer implements AutoCloseable {
        private final ServerSocket socket;
        private final AtomicInteger connections = new AtomicInteger();

        Peer(String answer) throws IOException {
            socket = new ServerSocket(0, 10, InetAddress.ofLiteral("127.0.0.1"));
            Thread.startVirtualThread(() -> {
                while (!socket.isClosed()) {
                    try (var connection = socket.accept()) {
                        connections.incrementAndGet();
                        connection.getInputStream().read();
                        connection.getOutputStream().write(answer.getBytes(StandardCharsets.ISO_8859_1));
                        connection.getOutputStream().flush();
                        // Until the caller has gone.
                        while (connection.getInputStream().read() >= 0) {
                            Thread.onSpinWait();
                        }
                    } catch (IOException _) {
                        // The test is over, or the caller broke off.
                    }
                }
            });
        }

        String url(String host) {
            return "http://%s:%d/".formatted(host, socket.getLocalPort());
        }

        @Override
        public void close() throws IOException {
            socket.close();
        }
    }

    @Test
    void theSignatureIsThatOfTheContract() {
        assertThat(secrets.sign(webhook("http://x/"), "{\"id\":\"1\"}"))
                .isEqualTo("g9GVspAMpMVO02eBYKI8LqYg8lbg1Z8T069M83IWUuQ");
    }

    /// Whoever owns a name lets it point elsewhere once the webhook is made.
    @Test
    void aNameIsCheckedForEveryAttempt() throws Exception {
        var inside = InetAddress.ofLiteral("127.0.0.1");
        try (var peer = new Peer("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
                var strict = dialer(_ -> List.of(inside));
                var open = dialer(_ -> List.of(inside), "hooks.example")) {
            var refused = send(strict, peer.url("hooks.example"));
            assertThat(refused.error()).isEqualTo(Attempt.ErrorClass.REQUEST_ERROR);
            assertThat(refused.message()).contains("hooks.example is not a public address", "webhooks.allow");
            assertThat(peer.connections).hasValue(0);
            assertThat(send(open, peer.url("hooks.example")).succeeded()).isTrue();
            assertThat(peer.connections).hasValue(1);
        }
    }

    /// The address that is called is the one that was looked at: no second question is asked.
    @Test
    void aNameIsLookedUpOnceForAnAttempt() throws Exception {
        var questions = new AtomicInteger();
        try (var peer = new Peer("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
                var dialer = dialer(
                        _ -> {
                            questions.incrementAndGet();
                            return List.of(InetAddress.ofLiteral("127.0.0.1"));
                        },
                        "127.0.0.1")) {
            assertThat(send(dialer, peer.url("hooks.example")).succeeded()).isTrue();
            assertThat(questions).hasValue(1);
        }
    }

    /// One address of several that is not allowed is enough: which one is dialled is chance.
    @Test
    void aNameWithAPrivateAddressAmongOthersIsRefused() throws Exception {
        var both = List.of(InetAddress.ofLiteral("127.0.0.1"), InetAddress.ofLiteral("127.0.0.2"));
        try (var peer = new Peer("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
                var dialer = dialer(_ -> both, "127.0.0.1")) {
            var attempt = send(dialer, peer.url("hooks.example"));
            assertThat(attempt.error()).isEqualTo(Attempt.ErrorClass.REQUEST_ERROR);
            assertThat(peer.connections).hasValue(0);
        }
    }

    @Test
    void failuresHaveTheContractsNames() {
        assertThat(send(
                                _ -> {
                                    throw new UnknownHostException("x");
                                },
                                "http://x/")
                        .error())
                .isEqualTo(Attempt.ErrorClass.DNS_ERROR);
        assertThat(send(
                                _ -> {
                                    throw new SocketTimeoutException("x");
                                },
                                "http://x/")
                        .error())
                .isEqualTo(Attempt.ErrorClass.TIMEOUT);
        assertThat(send(
                                _ -> {
                                    throw new IOException("x");
                                },
                                "http://x/")
                        .error())
                .isEqualTo(Attempt.ErrorClass.TRANSPORT_ERROR);
        var other = new WebhookCall(
                _ -> {
                    throw new AssertionError("must not be called");
                },
                new SigningSecrets(key(), random),
                InstantSource.system(),
                LIMIT);
        var unsigned = other.send(webhook("http://x/"), "e1", "{}");
        assertThat(unsigned.error()).isEqualTo(Attempt.ErrorClass.SIGNATURE_ERROR);
        assertThat(unsigned.message()).contains("signatureSecret");
    }

    /// A byte now and then keeps single reads happy for ever.
    @Test
    void aReceiverThatNeverComesToAnEndIsLeft() throws Exception {
        for (String answer : List.of("", "HTTP/1.1 200", "HTTP/1.1 200 OK\r\nX-Long: ")) {
            try (var peer = new Peer(answer);
                    var dialer = dialer(_ -> List.of(InetAddress.ofLiteral("127.0.0.1")), "127.0.0.1")) {
                var attempt = send(dialer, peer.url("x"));
                assertThat(attempt.error()).as(answer).isEqualTo(Attempt.ErrorClass.TIMEOUT);
                assertThat(attempt.duration()).isGreaterThanOrEqualTo(LIMIT.minusMillis(100));
            }
        }
    }

    /// Its content cannot be shown, but the status says that the event has arrived.
    @Test
    void anAnswerInACodingThatWasNotAskedForCounts() throws Exception {
        try (var peer = new Peer(
                        "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\n\u001f\u008b\b\0");
                var dialer = dialer(_ -> List.of(InetAddress.ofLiteral("127.0.0.1")), "127.0.0.1")) {
            var attempt = send(dialer, peer.url("x"));
            assertThat(attempt.succeeded())
                    .as(String.valueOf(attempt.message()))
                    .isTrue();
            assertThat(attempt.responseBody()).isEmpty();
        }
    }

    @Test
    void aHugeAnswerIsCutAndZerosAreKeptOutOfTheDatabase() throws Exception {
        String body = "\0" + "x".repeat(100_000);
        try (var peer = new Peer("HTTP/1.1 200 OK\r\nContent-Length: %d\r\nX-Big: %s\r\nX-Small: 1\r\n\r\n%s"
                        .formatted(body.length(), "y".repeat(10_000), body));
                var dialer = dialer(_ -> List.of(InetAddress.ofLiteral("127.0.0.1")), "127.0.0.1")) {
            var attempt = send(dialer, peer.url("x"));
            assertThat(attempt.succeeded()).isTrue();
            assertThat(attempt.responseBody()).hasSize(1024).startsWith("\uFFFDx");
            assertThat(attempt.responseHeaders()).doesNotContainKey("X-Big");
            assertThat(attempt.headers()).containsEntry("e2b-signature", "[hidden]");
        }
    }
}
