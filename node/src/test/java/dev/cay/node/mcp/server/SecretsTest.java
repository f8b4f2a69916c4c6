package dev.cay.node.mcp.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.testing.Fast;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

@Fast
class SecretsTest {
    private final Secrets secrets =
            new Secrets(Stream.of("token-1", "token-1-and-more", "abc", "-----BEGIN-----\nfirst line\n----END----"));

    @Test
    void strikesOutValuesWhereverTheyStand() {
        assertThat(secrets.strikeOut("a token-1-and-more, token-1token-1; abc", false))
                .isEqualTo("a ***, ***; abc");
        assertThat(secrets.strikeOut("of many: first line.", false)).isEqualTo("of many: ***.");
        assertThat(secrets.strikeOut("nothing", false)).isEqualTo("nothing");
    }

    /// A text that was cut may begin with the end of a value.
    @Test
    void leavesNoRestOfAValue() {
        String whole = "x".repeat(100) + "token-1-and-more" + "y".repeat(100);
        for (int from = 0; from < whole.length(); from++) {
            String clean = secrets.strikeOut(whole.substring(from), from > 0);
            assertThat(clean).doesNotContain("o", "d", "-");
        }
    }
}
