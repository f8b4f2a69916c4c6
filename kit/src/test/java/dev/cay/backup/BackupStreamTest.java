package dev.cay.backup;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.cay.testing.Fast;
import dev.cay.wire.CayException;
import dev.cay.wire.node.NodeBackup;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

@Fast
final class BackupStreamTest {
    /// More than one piece.
    private static final byte[] LARGE = new byte[BackupWriter.PIECE * 2 + 77];

    static {
        new Random(7).nextBytes(LARGE);
    }

    private static byte[] backup() throws IOException {
        var bytes = new ByteArrayOutputStream();
        var writer = new BackupWriter(bytes);
        writer.file(Manifest.NAME, "{}".getBytes(StandardCharsets.UTF_8));
        writer.part(new PartHead("large", NodeBackup.Kind.DISK), out -> out.write(LARGE));
        writer.file("empty", new byte[0]);
        writer.end();
        return bytes.toByteArray();
    }

    private static List<String> read(byte[] backup) {
        var names = new ArrayList<String>();
        var reader = new BackupReader(new ByteArrayInputStream(backup));
        for (var part = reader.next(); part.isPresent(); part = reader.next()) {
            names.add(part.get().name());
        }
        return names;
    }

    @Test
    void readsWhatWasWritten() throws IOException {
        var reader = new BackupReader(new ByteArrayInputStream(backup()));
        assertThat(reader.next().orElseThrow().bytes()).asString().isEqualTo("{}");
        var large = reader.next().orElseThrow();
        assertThat(large.head()).isEqualTo(new PartHead("large", NodeBackup.Kind.DISK));
        assertThat(large.bytes()).isEqualTo(LARGE);
        assertThat(reader.next().orElseThrow().bytes()).isEmpty();
        assertThat(reader.next()).isEmpty();
        assertThat(reader.next()).isEmpty();
    }

    @Test
    void aPartThatNobodyReadsIsCheckedAllTheSame() throws IOException {
        byte[] bytes = backup();
        assertThat(read(bytes)).containsExactly(Manifest.NAME, "large", "empty");
        bytes[BackupWriter.PIECE] ^= 1;
        assertThatThrownBy(() -> read(bytes))
                .isInstanceOf(CayException.class)
                .hasMessageContaining("damaged")
                .hasMessageContaining("large");
    }

    @Test
    void everyCutIsRefused() throws IOException {
        byte[] bytes = backup();
        for (int length = 0; length < bytes.length; length += length < 600 ? 1 : 50_021) {
            byte[] cut = Arrays.copyOf(bytes, length);
            assertThatThrownBy(() -> read(cut)).as("%d bytes", length).isInstanceOf(CayException.class);
        }
        byte[] almost = Arrays.copyOf(bytes, bytes.length - 1);
        assertThatThrownBy(() -> read(almost)).isInstanceOf(CayException.class).hasMessageContaining("cut");
    }

    @Test
    void everyChangedByteIsRefused() throws IOException {
        byte[] bytes = backup();
        for (int at = 0; at < bytes.length; at += at < 300 || at > bytes.length - 700 ? 1 : 30_011) {
            byte[] changed = bytes.clone();
            changed[at] ^= 0x20;
            assertThatThrownBy(() -> read(changed)).as("byte %d", at).isInstanceOf(CayException.class);
        }
    }

    @Test
    void aPartThatWasTakenOutIsMissed() throws IOException {
        var bytes = new ByteArrayOutputStream();
        var writer = new BackupWriter(bytes);
        writer.file("one", new byte[] {1});
        int from = bytes.size();
        writer.file("two", new byte[] {2});
        int to = bytes.size();
        writer.end();
        byte[] whole = bytes.toByteArray();
        var without = new ByteArrayOutputStream();
        without.write(whole, 0, from);
        without.write(whole, to, whole.length - to);
        assertThatThrownBy(() -> read(without.toByteArray()))
                .isInstanceOf(CayException.class)
                .hasMessageContaining("damaged");
    }

    @Test
    void somethingElseIsNoBackup() {
        assertThatThrownBy(() -> read("a text of some length".getBytes(StandardCharsets.UTF_8)))
                .isInstanceOf(CayException.class)
                .hasMessageContaining("no backup");
    }
}
