package dev.cay.wire;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.testing.Fast;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.json.JsonMapper;

@Fast
class AccessTokenTest {
    private record Holder(@Nullable AccessToken token) {}

    private final JsonMapper json = new JsonMapper();

    @Test
    void isAPlainStringInJson() {
        assertThat(json.writeValueAsString(new Holder(new AccessToken("abc")))).isEqualTo("{\"token\":\"abc\"}");
        assertThat(json.readValue("{\"token\":\"abc\"}", Holder.class)).isEqualTo(new Holder(new AccessToken("abc")));
        assertThat(json.readValue("{\"token\":null}", Holder.class).token()).isNull();
        assertThat(json.readValue("{}", Holder.class).token()).isNull();
    }

    @Test
    void matchesOnlyItself() {
        var token = new AccessToken("abc");
        assertThat(token.matches("abc")).isTrue();
        assertThat(token.matches("abd")).isFalse();
        assertThat(token.matches("ab")).isFalse();
        assertThat(token.matches("")).isFalse();
        assertThat(token.matches(null)).isFalse();
    }

    @Test
    void isNotPrinted() {
        assertThat(new Holder(new AccessToken("abc")).toString()).doesNotContain("abc");
    }
}
