package dev.cay.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.wire.node.Egress;
import java.util.Map;
import org.junit.jupiter.api.Test;

/// Teams and templates have network rules for sandboxes whose creator says nothing.
interface EgressDefaultContract extends NetworkCalls {
    @Test
    default void aTeamsDefaultHoldsForWhoSaysNothing() throws Exception {
        String path = "/admin/teams/%s/network".formatted(team());
        assertThat(cay().admin("GET", path, "").json().get("source").stringValue())
                .isEqualTo("default");
        var set = cay().admin("PUT", path, FULL);
        assertThat(set.status()).as(set.text()).isEqualTo(200);
        assertThat(set.json().at("/network/allowOut/0").stringValue()).isEqualTo("1.1.1.1");
        assertThat(set.text()).doesNotContain("hidden-word");
        assertThat(cay().call("PUT", path, "{}").status())
                .as("for the operator alone")
                .isIn(401, 403);

        restart();
        assertFull(egress(cay().create()));
        assertFull(egress(sandbox("{\"allowPublicTraffic\":true,\"allowOut\":[],\"rules\":{}}")));
        assertThat(egress(sandbox("{\"denyOut\":[\"8.8.8.8\"]}")).deny()).containsExactly("8.8.8.8");
        assertThat(egress(cay().create("{\"templateID\":\"base\",\"allow_internet_access\":false}")
                        .get("sandboxID")
                        .stringValue()))
                .isEqualTo(Egress.closed());

        assertThat(cay().admin("PUT", path, "{\"denyOut\":[\"x\"]}").status()).isEqualTo(400);
        assertThat(cay().admin("DELETE", path, "").status()).isEqualTo(204);
        assertThat(egress(cay().create())).isEqualTo(Egress.open());
    }

    @Test
    default void aTemplatesDefaultHoldsForItsTeamWhereNobodyChooses() throws Exception {
        cay().call("POST", "/secrets", "{\"name\":\"key\",\"value\":\"value\"}");
        String source = sandbox("{}");
        String template = cay().call("POST", "/sandboxes/%s/snapshots".formatted(source), "{\"name\":\"mine\"}")
                .json()
                .get("snapshotID")
                .stringValue();
        String path = "/templates/%s/network".formatted(template.split(":")[0].replace("/", "%2F"));
        assertThat(cay().call("GET", path).json().get("source").stringValue()).isEqualTo("default");
        var set = cay().call("PUT", path, FULL);
        assertThat(set.status()).as(set.text()).isEqualTo(200);
        assertThat(set.json().at("/network/allowOut/0").stringValue()).isEqualTo("1.1.1.1");
        assertThat(set.text()).doesNotContain("hidden-word");
        cay().admin("PUT", "/admin/teams/%s/network".formatted(team()), "{\"denyOut\":[\"9.9.9.9\"]}");

        restart();
        assertFull(egress(of(template, "")));
        assertFull(egress(of("mine", ",\"network\":{\"allowPublicTraffic\":true}")));
        assertThat(egress(of("mine", ",\"network\":{\"denyOut\":[\"8.8.8.8\"]}"))
                        .deny())
                .as("who says something chooses all of it")
                .containsExactly("8.8.8.8");
        assertThat(egress(cay().create()).deny()).as("another template").containsExactly("9.9.9.9");
        String narrow = cay().call("POST", "/api-keys", "{\"name\":\"k\",\"scope\":\"templates\"}")
                .json()
                .get("key")
                .stringValue();
        var refused = cay().request(
                        "PUT",
                        path,
                        Map.of("X-API-Key", narrow),
                        "{\"rules\":{\"a.test\":[{\"transform\":{\"headers\":{\"A\":\"${e2b.secrets.key}\"}}}]}}");
        assertThat(refused.status()).as("a secret that is not bound").isEqualTo(403);
        assertThat(cay().call("PUT", path, "{\"denyOut\":[\"x\"]}").status()).isEqualTo(400);

        assertThat(cay().call("PATCH", path.replace("/network", ""), "{\"public\":true}")
                        .status())
                .isEqualTo(200);
        String theirs = cay().keyOfAnotherTeam();
        var made = cay().request(
                        "POST",
                        "/v2/sandboxes",
                        Map.of("X-API-Key", theirs),
                        "{\"templateID\":\"%s\"}".formatted(template.split(":")[0]));
        assertThat(made.status()).as(made.text()).isEqualTo(201);
        assertThat(egress(made.json().get("sandboxID").stringValue()))
                .as("a sandbox of another team")
                .isEqualTo(Egress.open());

        assertThat(cay().call("DELETE", path).status()).isEqualTo(204);
        assertThat(egress(of("mine", "")).deny()).as("the team's again").containsExactly("9.9.9.9");
    }

    private String of(String template, String more) {
        return cay().create("{\"templateID\":\"%s\"%s}".formatted(template, more))
                .get("sandboxID")
                .stringValue();
    }
}
