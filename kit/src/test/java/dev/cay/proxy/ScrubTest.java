package dev.cay.proxy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.testing.Fast;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;

@Fast
final class ScrubTest {
    private static final String VALUE = "sk-aab-aac";

    /// Everything that passes when a text comes in pieces of one size.
    private static String passed(String text, int size, String... values) {
        var scrub = new Scrub(List.of(values));
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        var all = new StringBuilder();
        for (int at = 0; at < bytes.length; at += size) {
            add(all, scrub.pass(ByteBuffer.wrap(bytes, at, Math.min(size, bytes.length - at))));
        }
        return add(all, scrub.rest()).toString();
    }

    private static StringBuilder add(StringBuilder to, ByteBuffer bytes) {
        return to.append(StandardCharsets.UTF_8.decode(bytes));
    }

    @Test
    void aValueIsStruckOutHoweverItIsCut() {
        String text = "sk-aask-aab-%s and sk-aab-%s, sk-aab".formatted(VALUE, VALUE);
        String wanted = text.replace(VALUE, "*".repeat(VALUE.length()));
        for (int size = 1; size <= text.length(); size++) {
            assertThat(passed(text, size, VALUE)).as("in pieces of " + size).isEqualTo(wanted);
        }
    }

    @Test
    void ofSeveralValuesEachIsStruckOut() {
        for (int size = 1; size < 20; size++) {
            assertThat(passed("x first-value second-value y", size, "first-value", "second-value"))
                    .isEqualTo("x *********** ************ y");
        }
    }

    @Test
    void whatCannotBeAValuePassesAtOnce() {
        var scrub = new Scrub(List.of(VALUE));
        assertThat(scrub.pass(ByteBuffer.wrap("data: hello\n\n".getBytes(StandardCharsets.UTF_8)))
                        .remaining())
                .isEqualTo(13);
    }

    @Test
    void aShortValueIsLeftAlone() {
        assertThat(passed("no answer", 3, "no")).isEqualTo("no answer");
    }
}
