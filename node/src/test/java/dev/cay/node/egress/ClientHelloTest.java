package dev.cay.node.egress;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.testing.Fast;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Random;
import javax.net.ssl.SSLContext;
import org.junit.jupiter.api.Test;

@Fast
final class ClientHelloTest {
    @Test
    void readsTheNameOfARealClient() throws Exception {
        byte[] hello = real("Some.Example.Org");
        assertThat(read(hello)).isEqualTo(new FirstBytes.Tls("some.example.org"));
    }

    @Test
    void asksForMoreUntilTheMessageIsWhole() throws Exception {
        byte[] hello = real("some.example.org");
        for (int length = 1; length < hello.length; length++) {
            assertThat(FirstBytes.of(hello, length)).as("%d bytes", length).isInstanceOf(FirstBytes.Unfinished.class);
        }
    }

    @Test
    void putsAMessageTogetherFromManyRecords() {
        byte[] message = message(name("a.test"));
        for (int size : new int[] {1, 2, 3, 5, 100}) {
            assertThat(read(records(message, size))).as("records of %d", size).isEqualTo(new FirstBytes.Tls("a.test"));
        }
    }

    @Test
    void takesAClientWithoutANameForTlsWithoutAName() {
        assertThat(read(records(message(new byte[0]), 1000))).isEqualTo(new FirstBytes.Tls(null));
        for (String address : new String[] {"6.6.6.2", "127.1", "0x7f.1", "a..b", "", "a b", "-", "x\r\ny"}) {
            assertThat(read(records(message(name(address)), 1000))).as(address).isEqualTo(new FirstBytes.Tls(null));
        }
        assertThat(read(records(message(name("a.".repeat(127) + "abc")), 1000))).isEqualTo(new FirstBytes.Tls(null));
        assertThat(read(records(message(name("example.org.")), 1000))).isEqualTo(new FirstBytes.Tls("example.org"));
    }

    @Test
    void refusesMessagesThatCanBeReadInTwoWays() {
        byte[] two = extension(0, bytes(w -> {
            putShort(w, 3 + 6 + 3 + 6);
            for (String host : new String[] {"a.test", "b.test"}) {
                w.write(0);
                putShort(w, 6);
                w.writeBytes(host.getBytes(StandardCharsets.US_ASCII));
            }
        }));
        assertThat(read(records(message(two), 1000))).isInstanceOf(FirstBytes.BrokenTls.class);
        byte[] twice = bytes(w -> {
            w.writeBytes(name("a.test"));
            w.writeBytes(name("b.test"));
        });
        assertThat(read(records(message(twice), 1000))).isInstanceOf(FirstBytes.BrokenTls.class);
        byte[] message = message(name("a.test"));
        byte[] followed = Arrays.copyOf(message, message.length + 1);
        assertThat(read(records(followed, 1000))).isInstanceOf(FirstBytes.BrokenTls.class);
    }

    @Test
    void refusesLengthsThatLie() {
        byte[] hello = records(message(name("a.test")), 1000);
        hello[3] = 0x41;
        assertThat(read(hello)).as("a record that is too long").isInstanceOf(FirstBytes.BrokenTls.class);
        assertThat(read(new byte[] {22, 3, 1, 0, 0})).as("an empty record").isInstanceOf(FirstBytes.BrokenTls.class);
        assertThat(read(new byte[] {22, 3, 1, 0, 4, 1, 1, 0, 0}))
                .as("a message of 64 KiB")
                .isInstanceOf(FirstBytes.BrokenTls.class);
        assertThat(read(new byte[] {22, 3, 1, 0, 4, 2, 0, 0, 0}))
                .as("another message")
                .isInstanceOf(FirstBytes.BrokenTls.class);
    }

    @Test
    void givesUpOnAMessageWithoutAnEnd() {
        var endless = new ByteArrayOutputStream();
        endless.writeBytes(new byte[] {22, 3, 1, 0, 4, 1, 0, 0x7f, (byte) 0xff});
        while (endless.size() < FirstBytes.MOST) {
            endless.writeBytes(new byte[] {22, 3, 1, 0, 1, 0});
        }
        byte[] bytes = Arrays.copyOf(endless.toByteArray(), FirstBytes.MOST);
        assertThat(FirstBytes.of(bytes, bytes.length)).isInstanceOf(FirstBytes.BrokenTls.class);
    }

    /// Every message with one wrong byte is read in some way, and none in a way that throws.
    @Test
    void bearsEveryDamage() throws Exception {
        byte[] hello = real("some.example.org");
        var random = new Random(1);
        for (int at = 0; at < hello.length; at++) {
            byte[] damaged = hello.clone();
            damaged[at] ^= (byte) (1 + random.nextInt(255));
            assertThat(read(damaged)).isNotNull();
        }
        for (int i = 0; i < 10_000; i++) {
            byte[] noise = new byte[random.nextInt(300) + 1];
            random.nextBytes(noise);
            noise[0] = 22;
            assertThat(read(noise)).isNotNull();
        }
    }

    private static FirstBytes read(byte[] bytes) {
        return FirstBytes.of(bytes, bytes.length);
    }

    static byte[] real(String host) throws Exception {
        var engine = SSLContext.getDefault().createSSLEngine(host, 443);
        engine.setUseClientMode(true);
        var out = ByteBuffer.allocate(engine.getSession().getPacketBufferSize());
        engine.wrap(ByteBuffer.allocate(0), out);
        return Arrays.copyOf(out.array(), out.position());
    }

    private interface Writer {
        void write(ByteArrayOutputStream out);
    }

    private static byte[] bytes(Writer writer) {
        var out = new ByteArrayOutputStream();
        writer.write(out);
        return out.toByteArray();
    }

    private static void putShort(ByteArrayOutputStream out, int value) {
        out.write(value >> 8);
        out.write(value);
    }

    private static byte[] name(String host) {
        byte[] text = host.getBytes(StandardCharsets.ISO_8859_1);
        return extension(0, bytes(w -> {
            putShort(w, text.length + 3);
            w.write(0);
            putShort(w, text.length);
            w.writeBytes(text);
        }));
    }

    private static byte[] extension(int type, byte[] content) {
        return bytes(w -> {
            putShort(w, type);
            putShort(w, content.length);
            w.writeBytes(content);
        });
    }

    private static byte[] message(byte[] extensions) {
        byte[] body = bytes(w -> {
            putShort(w, 0x0303);
            w.writeBytes(new byte[32]);
            w.write(0);
            putShort(w, 2);
            putShort(w, 0x1301);
            w.write(1);
            w.write(0);
            putShort(w, extensions.length);
            w.writeBytes(extensions);
        });
        return bytes(w -> {
            w.write(1);
            w.write(body.length >> 16);
            putShort(w, body.length & 0xffff);
            w.writeBytes(body);
        });
    }

    private static byte[] records(byte[] message, int size) {
        return bytes(w -> {
            for (int at = 0; at < message.length; at += size) {
                byte[] part = Arrays.copyOfRange(message, at, Math.min(message.length, at + size));
                w.write(22);
                putShort(w, 0x0301);
                putShort(w, part.length);
                w.writeBytes(part);
            }
        });
    }
}
