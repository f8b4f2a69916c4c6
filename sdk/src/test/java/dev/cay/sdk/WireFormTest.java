package dev.cay.sdk;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.testing.Fast;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/// What other clients send in the same place, so that every server understands it.
@Fast
class WireFormTest {
    @Test
    void aSignatureIsThatOfOtherClients() {
        assertThat(SandboxFiles.signature("hello.txt:read:user:0tQG31xiMp0IOQfaz9dcwi72L1CPo8e0"))
                .isEqualTo("v1_gUtH/s9YCJWgCizjfUxuWfhFE4QSydOWEIIvfLwDr6E");
    }

    @Test
    void metadataIsEncodedThrice() {
        var filter = SandboxFilter.ALL.with("a b", "c&d");
        assertThat(Api.query(filter.query())).contains("metadata=a%252520b%3Dc%252526d");
    }

    @Test
    void aSandboxWithoutWishesIsTheServersUsualOne() {
        assertThat(NewSandbox.usual().body()).isEqualTo(Map.of("templateID", "base"));
    }

    @Test
    void rulesForTheNetworkAreThoseOfTheContract() {
        var wish = NewSandbox.usual()
                .withEgress(EgressRules.nothing()
                        .allowing("1.1.1.1", "*.example.org")
                        .withHeader("api.example.org", "X-A", "value-of-a")
                        .withHeader("api.example.org", "X-B", "b")
                        .through("proxy.example.org:1080", "me", "hidden-word"))
                .withPorts(PortRules.usual()
                        .closed()
                        .showingHost("localhost:${PORT}")
                        .withTls(8443));
        assertThat(wish.body())
                .isEqualTo(Map.of(
                        "templateID",
                        "base",
                        "allow_internet_access",
                        true,
                        "network",
                        Map.of(
                                "allowOut",
                                List.of("1.1.1.1", "*.example.org"),
                                "denyOut",
                                List.of("0.0.0.0/0"),
                                "rules",
                                Map.of(
                                        "api.example.org",
                                        List.of(Map.of(
                                                "transform",
                                                Map.of("headers", Map.of("X-A", "value-of-a", "X-B", "b"))))),
                                "egressProxy",
                                Map.of(
                                        "address",
                                        "proxy.example.org:1080",
                                        "username",
                                        "me",
                                        "password",
                                        "hidden-word"),
                                "allowPublicTraffic",
                                false,
                                "maskRequestHost",
                                "localhost:${PORT}",
                                "httpsPorts",
                                List.of(8443))));
        assertThat(String.valueOf(wish.egress())).doesNotContain("hidden-word", "value-of-a");
        assertThat(EgressRules.offline().body()).isEqualTo(Map.of("allow_internet_access", false));
    }

    @Test
    void timeIsRoundedUp() {
        assertThat(NewSandbox.usual().livingFor(Duration.ofMillis(1500)).body()).containsEntry("timeout", 2L);
    }

    @Test
    void onlyTheNamesOfMcpServersGoToTheServer() {
        var wish = NewSandbox.usual().withMcp(Map.of("notion", Map.of("internalIntegrationToken", "secret")));
        assertThat(wish.body()).containsEntry("templateID", "mcp-gateway");
        assertThat(wish.body().toString()).contains("notion").doesNotContain("secret");
        assertThat(wish.toString()).contains("notion").doesNotContain("secret");
    }
}
