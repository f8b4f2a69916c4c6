package dev.cay.server;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.wire.node.Egress;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/// Rules say which placeholders of secrets become values.
interface EgressFillContract extends NetworkCalls {
    private static String filling(String fill) {
        return "{\"rules\":{\"api.example.org\":[{\"transform\":{\"fill\":%s}}]}}".formatted(fill);
    }

    @Test
    default void aRuleSaysWhichPlaceholdersOfTheSandboxBecomeValues() throws Exception {
        String id = sandbox(filling("{\"secrets\":[\"Key\",\"other\"],\"in\":[\"headers\",\"body\"]}"));
        var fill = requireNonNull(egress(id).rules().get("api.example.org")).fill();
        assertThat(fill)
                .isEqualTo(new Egress.Fill(Set.of("key", "other"), Set.of(Egress.Place.HEADERS, Egress.Place.BODY)));
        var shown = info(id).get("network").at("/rules/api.example.org/0/transform/fill");
        assertThat(shown.toString()).isEqualTo("{\"secrets\":[\"key\",\"other\"],\"in\":[\"headers\",\"body\"]}");
        String usual = sandbox(filling("{\"secrets\":[\"key\"]}"));
        assertThat(requireNonNull(requireNonNull(egress(usual).rules().get("api.example.org"))
                                .fill())
                        .places())
                .containsExactly(Egress.Place.HEADERS);
        String without = sandbox("{\"rules\":{\"api.example.org\":[{\"transform\":{\"headers\":{\"A\":\"b\"}}}]}}");
        assertThat(requireNonNull(egress(without).rules().get("api.example.org"))
                        .fill())
                .isNull();
    }

    @Test
    default void whatIsWrongWithPlaceholdersIsNamed() {
        for (var wrong : Map.of(
                        "{}", "'fill.secrets'",
                        "{\"secrets\":[]}", "'fill.secrets'",
                        "{\"secrets\":[\"a b\"]}", "'a b'",
                        "{\"secrets\":[\"a\"],\"in\":[\"path\"]}", "'path'",
                        "{\"secrets\":\"a\"}", "fill.secrets' must be a list")
                .entrySet()) {
            var answer = cay().call(
                            "POST",
                            "/v2/sandboxes",
                            "{\"templateID\":\"base\",\"network\":%s}".formatted(filling(wrong.getKey())));
            assertThat(answer.status()).as(wrong.getKey()).isEqualTo(400);
            assertThat(answer.message()).contains(wrong.getValue());
        }
    }

    /// Who may make a rule for a host of their own could read any secret there.
    @Test
    default void aNarrowKeyFillsOnlySecretsThatAreBoundToHosts() {
        cay().call("POST", "/secrets", "{\"name\":\"key\",\"value\":\"value\"}");
        String narrow = cay().call("POST", "/api-keys", "{\"name\":\"k\",\"scope\":\"sandboxes\"}")
                .json()
                .get("key")
                .stringValue();
        String body = "{\"templateID\":\"base\",\"network\":%s}".formatted(filling("{\"secrets\":[\"KEY\"]}"));
        var refused = cay().request("POST", "/v2/sandboxes", Map.of("X-API-Key", narrow), body);
        assertThat(refused.status()).isEqualTo(403);
        assertThat(refused.message()).contains("'key' is not");
        cay().call("POST", "/secrets/key", "{\"value\":\"v\",\"metadata\":{\"cay.hosts\":\"api.example.org\"}}");
        assertThat(cay().request("POST", "/v2/sandboxes", Map.of("X-API-Key", narrow), body)
                        .status())
                .isEqualTo(201);
    }
}
