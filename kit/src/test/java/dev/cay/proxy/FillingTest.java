package dev.cay.proxy;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.testing.Fast;
import dev.cay.wire.SandboxId;
import dev.cay.wire.node.Egress;
import dev.cay.wire.node.Placeholders;
import java.util.Base64;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

@Fast
final class FillingTest {
    private static final String PLACEHOLDER = "${e2b.secrets.key}";
    private static final Map<String, String> VALUES = Map.of(
            "key", "a \"b\" & c+ä", "lines", "one\ntwo", "other", "not for this rule", "bound", "not for this host");
    private static final Placeholders ALL = (_, kind, name, host) -> Optional.ofNullable(VALUES.get(name))
            .filter(_ -> kind == Placeholders.Kind.SECRET && host.equals("api.test") && !name.equals("bound"));

    private final Filling filling = new Filling(
            ALL, new SandboxId("one"), "api.test", new Egress.Fill(Set.of("key", "lines", "bound"), Set.of()));

    private String body(String type, String text) {
        return new String(filling.body(type, text.getBytes(UTF_8)), UTF_8);
    }

    @Test
    void aPlaceholderOfTheRuleBecomesTheValue() {
        String bytes = new String(String.valueOf(VALUES.get("key")).getBytes(UTF_8), ISO_8859_1);
        assertThat(filling.header("Bearer " + PLACEHOLDER)).isEqualTo("Bearer " + bytes);
        assertThat(filling.header("${e2b.secrets.KEY}")).isEqualTo(bytes);
    }

    @Test
    void whatTheRuleDoesNotNameStaysAPlaceholder() {
        for (String other : new String[] {
            "${e2b.secrets.other}", "${e2b.secrets.bound}", "${e2b.secrets.missing}", "${e2b.secrets.lines}",
            "${e2b.identity.tokens.key}", "${e2b.secrets.key", "$e2b.secrets.key}", "${e2b.secrets.}"
        }) {
            assertThat(filling.header(other)).isEqualTo(other);
        }
        assertThat(filling.sent()).isEmpty();
    }

    @Test
    void aLoginOfBasicIsLookedAt() {
        String login = Base64.getEncoder().encodeToString(("me:" + PLACEHOLDER).getBytes(UTF_8));
        String wanted = Base64.getEncoder().encodeToString(("me:" + VALUES.get("key")).getBytes(UTF_8));
        assertThat(filling.header("Basic " + login)).isEqualTo("Basic " + wanted);
        assertThat(filling.sent()).as("struck out of the answer").contains(wanted);
        assertThat(filling.header("Basic not base64")).isEqualTo("Basic not base64");
    }

    @Test
    void aQueryHasTheValueEncodedAndThePathIsLeftAlone() {
        String encoded = "a%20%22b%22%20%26%20c%2B%C3%A4";
        assertThat(
                        filling.query(
                                "/p/${e2b.secrets.key}?k=${e2b.secrets.key}&l=%24%7Be2b.secrets.key%7D&m=$%7be2b.secrets.key%7d"))
                .isEqualTo("/p/${e2b.secrets.key}?k=%s&l=%s&m=%s".formatted(encoded, encoded, encoded));
        assertThat(filling.query("/p/${e2b.secrets.key}")).isEqualTo("/p/${e2b.secrets.key}");
        assertThat(filling.sent()).containsExactly(VALUES.get("key"));
    }

    @Test
    void aBodyHasTheValueAsItsKindNeedsIt() {
        assertThat(body("application/json; charset=utf-8", "{\"ä\":\"${e2b.secrets.key}\"}"))
                .isEqualTo("{\"ä\":\"a \\\"b\\\" & c+ä\"}");
        assertThat(body("application/json", "\"${e2b.secrets.lines}\"")).isEqualTo("\"one\\ntwo\"");
        assertThat(body("application/x-www-form-urlencoded", "k=%24%7Be2b.secrets.lines%7D"))
                .isEqualTo("k=one%0Atwo");
        assertThat(body("text/plain", "k=${e2b.secrets.lines}")).isEqualTo("k=one\ntwo");
        assertThat(filling.sent()).containsExactlyInAnyOrder(VALUES.get("key"), VALUES.get("lines"));
    }
}
