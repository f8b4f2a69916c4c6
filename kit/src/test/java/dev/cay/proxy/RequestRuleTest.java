package dev.cay.proxy;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.http.TestHttp;
import dev.cay.metrics.Meters;
import dev.cay.testing.Fast;
import dev.cay.wire.SandboxId;
import dev.cay.wire.node.Egress;
import dev.cay.wire.node.Placeholders;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Rules whose values have letters that ASCII does not have.
@Fast
final class RequestRuleTest {
    private static final String SECRET = "schl\u00fcssel-\u20ac-1";
    private static final String PLACEHOLDER = "${e2b.secrets.known}";

    /// The bytes of the value on the wire, a character for each.
    private static final String SENT = latin(SECRET);

    private static final Egress.Transform RULE = new Egress.Transform(
            Map.of("X-Rule", PLACEHOLDER, "X-Plain", "b\u00fccher"),
            null,
            new Egress.Fill(Set.of("known"), Set.of(Egress.Place.HEADERS)));

    @TempDir
    Path directory;

    private static String latin(String text) {
        return new String(text.getBytes(UTF_8), ISO_8859_1);
    }

    @Test
    void valuesAreSentAsUtf8AndStruckOutHoweverAServerReadsThem() throws Exception {
        Placeholders values = new Placeholders() {
            @Override
            public Optional<String> value(SandboxId sandbox, Kind kind, String name, String host) {
                return Optional.of(SECRET);
            }

            @Override
            public Optional<String> mark(String host) {
                return Optional.empty();
            }
        };
        var proxy = new ReverseProxy(new Meters());
        try (proxy;
                var server = new RawServer();
                var edge = new TestHttp(directory, exchange -> {
                    RequestRule.apply(exchange, RULE, values, new SandboxId("one"), "www.allowed.test");
                    proxy.forward(exchange, server.upstream());
                })) {
            var request = edge.request(false, "/").header("X-Own", PLACEHOLDER).build();
            var answer = edge.client(false).sendAsync(request, BodyHandlers.ofByteArray());
            try (var socket = server.accept()) {
                assertThat(RawServer.head(socket))
                        .containsIgnoringCase("X-Rule: " + SENT + "\r\n")
                        .containsIgnoringCase("X-Own: " + SENT + "\r\n")
                        .containsIgnoringCase("X-Plain: " + latin("b\u00fccher") + "\r\n");
                String json = "schl\\u00fcssel-\\u20ac-1";
                String misread = "schl\\u00c3\\u00bcssel-\\u00e2\\u0082\\u00ac-1";
                String body = String.join("|", SENT, latin(SENT), json, misread);
                RawServer.write(
                        socket,
                        "HTTP/1.1 200 OK\r\nX-Echo: %s\r\nContent-Length: %d\r\n\r\n%s"
                                .formatted(SENT, body.length(), body));
                var got = answer.get(20, TimeUnit.SECONDS);
                assertThat(new String(got.body(), ISO_8859_1).replace("|", "")).matches("\\*+");
                assertThat(got.headers().firstValue("X-Echo").orElseThrow()).matches("\\*+");
            }
        }
    }
}
