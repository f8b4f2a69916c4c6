package dev.cay.node.egress;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.cay.testing.Fast;
import dev.cay.wire.node.EgressProxy;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ByteChannel;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;

@Fast
final class Socks5Test {
    private static final InetSocketAddress TARGET = new InetSocketAddress(InetAddress.ofLiteral("6.6.6.2"), 443);
    private static final EgressProxy PLAIN = new EgressProxy("p:1", null, null);
    private static final EgressProxy KNOWN = new EgressProxy("p:1", "us", "pwd");

    @Test
    void asksForAnAddress() throws Exception {
        var proxy = new Proxy("0500" + "05000001" + "000000000000" + "ff");
        Socks5.connect(proxy, PLAIN, TARGET);
        assertThat(proxy.heard()).isEqualTo("050100" + "05010001" + "06060602" + "01bb");
        assertThat(proxy.left()).as("what the server says").isEqualTo(1);
    }

    @Test
    void showsItsNameAndPassword() throws Exception {
        var proxy = new Proxy("0502" + "0100" + "05000003" + "0161" + "0000");
        Socks5.connect(proxy, KNOWN, TARGET);
        assertThat(proxy.heard()).isEqualTo("050102" + "0102" + "7573" + "03" + "707764" + "05010001" + "0606060201bb");
        assertThat(proxy.left()).isZero();
    }

    @Test
    void failsForEverythingElse() {
        for (String said : new String[] {
            "",
            "05",
            "0402",
            "05ff",
            "0500",
            "0502" + "0101",
            "0502" + "0100" + "05020001" + "000000000000",
            "0502" + "0100" + "04000001" + "000000000000",
            "0502" + "0100" + "05000009" + "000000000000",
            "0502" + "0100" + "05000001" + "0000"
        }) {
            assertThatThrownBy(() -> Socks5.connect(new Proxy(said), KNOWN, TARGET))
                    .as(said)
                    .isInstanceOf(IOException.class)
                    .hasMessageNotContaining("pwd");
        }
        assertThatThrownBy(() -> Socks5.connect(new Proxy("0502"), PLAIN, TARGET))
                .isInstanceOf(IOException.class);
        var endless = new EgressProxy("p:1", "u".repeat(256), "p");
        assertThatThrownBy(() -> Socks5.connect(new Proxy("0502"), endless, TARGET))
                .isInstanceOf(IOException.class);
    }

    /// Says what it was told to say, a byte at a time.
    private static final class Proxy implements ByteChannel {
        private final ByteBuffer answers;
        private final ByteArrayOutputStream heard = new ByteArrayOutputStream();

        Proxy(String hex) {
            answers = ByteBuffer.wrap(HexFormat.of().parseHex(hex));
        }

        String heard() {
            return HexFormat.of().formatHex(heard.toByteArray());
        }

        int left() {
            return answers.remaining();
        }

        @Override
        public int read(ByteBuffer into) {
            if (!answers.hasRemaining()) {
                return -1;
            }
            into.put(answers.get());
            return 1;
        }

        @Override
        public int write(ByteBuffer from) {
            int count = from.remaining();
            while (from.hasRemaining()) {
                heard.write(from.get());
            }
            return count;
        }

        @Override
        public boolean isOpen() {
            return true;
        }

        @Override
        public void close() {}
    }
}
