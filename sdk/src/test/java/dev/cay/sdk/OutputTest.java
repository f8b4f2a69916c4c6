package dev.cay.sdk;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.testing.Fast;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import org.junit.jupiter.api.Test;

@Fast
class OutputTest {
    @Test
    void aCharacterThatComesInPiecesIsWhole() {
        var heard = new ArrayList<String>();
        var output = new Output(heard::add, 100);
        byte[] text = "a😀b".getBytes(StandardCharsets.UTF_8);
        for (byte piece : text) {
            output.take(new byte[] {piece});
        }
        output.end();
        assertThat(output.kept().text()).isEqualTo("a😀b");
        assertThat(heard).containsExactly("a", "😀", "b");
    }

    @Test
    void bytesThatAreNoTextAreReplaced() {
        var output = new Output(_ -> {}, 100);
        output.take(new byte[] {'a', (byte) 0xff, 'b', (byte) 0xe2, (byte) 0x82});
        output.end();
        assertThat(output.kept().text()).isEqualTo("a\ufffdb\ufffd");
    }

    @Test
    void keepsTheBeginningAndTellsAll() {
        var heard = new StringBuilder();
        var output = new Output(heard::append, 5);
        output.take("abc".getBytes(StandardCharsets.UTF_8));
        assertThat(output.kept().isCut()).isFalse();
        output.take("defg".getBytes(StandardCharsets.UTF_8));
        output.take("hij".getBytes(StandardCharsets.UTF_8));
        assertThat(output.kept().text()).isEqualTo("abcde");
        assertThat(output.kept().isCut()).isTrue();
        assertThat(heard).hasToString("abcdefghij");
    }
}
