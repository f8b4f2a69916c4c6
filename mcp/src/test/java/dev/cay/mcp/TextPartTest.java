package dev.cay.mcp;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.testing.Fast;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Fast
class TextPartTest {
    private static final String TEXT = "a grüß 𝄞😀 line\r\nand 漢字".repeat(50);

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 7, 100, 100_000})
    void partsTogetherAreTheWhole(int length) throws Exception {
        var whole = new StringBuilder();
        TextPart part;
        int offset = 0;
        do {
            part = TextPart.read(bytes(TEXT), offset, length);
            whole.append(part.text());
            offset += part.characters();
        } while (part.more());
        assertThat(whole).hasToString(TEXT);
        assertThat(offset).isEqualTo(TEXT.codePointCount(0, TEXT.length()));
    }

    @Test
    void behindTheEndThereIsNothing() throws Exception {
        assertThat(TextPart.read(bytes("abc"), 3, 5)).isEqualTo(new TextPart("", 0, false));
        assertThat(TextPart.read(bytes("abc"), 1_000, 5)).isEqualTo(new TextPart("", 0, false));
        assertThat(TextPart.read(bytes(""), 0, 5)).isEqualTo(new TextPart("", 0, false));
    }

    @Test
    void aPartThatEndsWithTheTextIsTheLast() throws Exception {
        assertThat(TextPart.read(bytes("abc"), 1, 2)).isEqualTo(new TextPart("bc", 2, false));
        assertThat(TextPart.read(bytes("abc"), 1, 1)).isEqualTo(new TextPart("b", 1, true));
    }

    @Test
    void ofAnEndlessFileOnlyThePartIsRead() throws Exception {
        var endless = new InputStream() {
            private long given;

            @Override
            public int read() throws IOException {
                given++;
                return 'x';
            }

            @Override
            public int read(byte[] into, int offset, int length) {
                given += length;
                return length;
            }
        };
        assertThat(TextPart.read(endless, 10, 20).more()).isTrue();
        assertThat(endless.given).isLessThan(1 << 20);
    }

    private static InputStream bytes(String text) {
        return new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8));
    }
}
