package dev.cay.node.egress;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.testing.Fast;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@Fast
final class FirstBytesTest {
    @Test
    void readsTheHostOfAnHttpRequest() {
        assertThat(read("GET / HTTP/1.1\r\nX: y\r\nhOST:  Some.Example.ORG:8080 \r\n\r\n"))
                .isEqualTo(new FirstBytes.Http("some.example.org"));
        assertThat(read("POST /x HTTP/1.0\r\n\r\n")).isEqualTo(new FirstBytes.Http(null));
        assertThat(read("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")).isEqualTo(new FirstBytes.Http(null));
    }

    @Test
    void asksForMoreUntilTheHeadIsWhole() {
        String head = "GET /x HTTP/1.1\r\nHost: a.test\r\n\r\n";
        for (int length = 1; length < head.length(); length++) {
            assertThat(read(head.substring(0, length)))
                    .as("%d bytes", length)
                    .isInstanceOf(FirstBytes.Unfinished.class);
        }
        assertThat(read(head)).isEqualTo(new FirstBytes.Http("a.test"));
    }

    @Test
    void givesUpOnALineWithoutAnEnd() {
        assertThat(read("GET /" + "x".repeat(FirstBytes.MOST - 5))).isInstanceOf(FirstBytes.Other.class);
        assertThat(read("GET / HTTP/1.1\r\nX: " + "y".repeat(FirstBytes.MOST - 19)))
                .isEqualTo(new FirstBytes.Http(null));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "SSH-2.0-x\r\n",
                "EHLO me\r\n",
                "\u0000\u0001",
                "get / HTTP/1.1\r\n",
                "QUIT\r\n",
                "\u0005\u0001\u0000"
            })
    void takesOtherProtocolsForWhatTheyAre(String text) {
        assertThat(read(text)).isInstanceOf(FirstBytes.Other.class);
    }

    @ParameterizedTest
    @CsvSource({
        "A.Test,a.test",
        "a.test:80,a.test",
        "a.test.:80,a.test",
        "a.test:,a.test",
        "6.6.6.2,",
        "[::1]:80,",
        "a.test:80:90,",
        "a.test@b.test,",
        "a.test/b,",
        "127.1,"
    })
    void readsHostsOfAuthorities(String authority, String host) {
        assertThat(FirstBytes.hostOf(authority)).isEqualTo(host);
    }

    private static FirstBytes read(String text) {
        byte[] bytes = text.getBytes(StandardCharsets.ISO_8859_1);
        return FirstBytes.of(bytes, bytes.length);
    }
}
