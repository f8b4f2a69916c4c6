package dev.cay.node.lines;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.testing.Fast;
import org.junit.jupiter.api.Test;

@Fast
class TailTest {
    private final Tail tail = new Tail(5);

    @Test
    void keepsTheLast() {
        add("ab");
        add("cde");
        assertThat(tail.text()).isEqualTo("abcde");
        assertThat(tail.isCut()).isFalse();
        add("f");
        assertThat(tail.text()).isEqualTo("bcdef");
        assertThat(tail.isCut()).isTrue();
        add("0123456789");
        assertThat(tail.text()).isEqualTo("56789");
    }

    @Test
    void putsCharactersTogetherThatCameInParts() {
        byte[] euro = "€".getBytes(UTF_8);
        tail.add(euro, 1);
        tail.add(new byte[] {euro[1], euro[2]}, 2);
        assertThat(tail.text()).isEqualTo("€");
    }

    private void add(String text) {
        tail.add(text.getBytes(UTF_8), text.length());
    }
}
