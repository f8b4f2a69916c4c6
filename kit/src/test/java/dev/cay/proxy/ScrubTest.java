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
    void ofValuesThatOverlapEveryByteIsStruckOut() {
        for (int size = 1; size < 20; size++) {
            assertThat(passed("x sk-123456-secret y", size, "sk-123456", "sk-123456-secret"))
                    .as("one begins with the other, in pieces of %d", size)
                    .isEqualTo("x **************** y");
            assertThat(passed("x abcdefghijkl y", size, "abcdefgh", "efghijkl"))
                    .as("one begins in the other, in pieces of %d", size)
                    .isEqualTo("x ************ y");
            assertThat(passed("x abcdefghijk y", size, "abcdefgh", "efghijkl"))
                    .as("the second does not end, in pieces of %d", size)
                    .isEqualTo("x ********ijk y");
        }
    }

    @Test
    void aValueIsStruckOutInTheFormsOfOtherEncoders() {
        var scrub = new Scrub(WrittenForms.of("pa/ss+w=or&d<!'()~ ü"));
        for (String form : List.of(
                "pa/ss+w=or&d<!'()~ ü",
                "pa\\/ss+w=or&d<!'()~ \\u00fc",
                "pa/ss+w=or\\u0026d\\u003c!'()~ \\u00fc",
                "pa/ss+w\\u003dor\\u0026d\\u003c!\\u0027()~ \\u00fc",
                "pa%2Fss%2Bw%3Dor%26d%3C!'()~%20%C3%BC",
                "pa%2fss%2bw%3dor%26d%3c%21%27%28%29%7e%20%c3%bc",
                "pa%2Fss%2Bw%3Dor%26d%3C!'()~+%C3%BC",
                "pa/ss+w=or&d%3C!'()~%20%C3%BC")) {
            byte[] bytes = form.getBytes(StandardCharsets.UTF_8);
            assertThat(scrub.find(bytes).cardinality()).as(form).isEqualTo(bytes.length);
        }
    }

    @Test
    void aValueThatNobodyEscapesHasOneForm() {
        assertThat(WrittenForms.of("sk-123456")).containsExactly("sk-123456");
    }

    @Test
    void aValueIsStruckOutOfHeadersAndTheirNames() {
        var scrub = new Scrub(List.of("Pässwort-1", "Sk-AbCdEf"));
        String bytes = new String("x Pässwort-1".getBytes(StandardCharsets.UTF_8), StandardCharsets.ISO_8859_1);
        assertThat(scrub.text(bytes)).isEqualTo("x ***********");
        assertThat(scrub.name("x-sk-abcdef")).isEqualTo("x-*********");
        assertThat(scrub.name("Content-Type")).isEqualTo("Content-Type");
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
