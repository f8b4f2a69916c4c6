package dev.cay.backup;

import dev.cay.http.Json;
import dev.cay.wire.node.NodeBackup;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;

/// Writes a backup, part by part. One that was not ended by {@link #end} is refused by every reader.
///
/// A part is: the length of its head and the head, as JSON; pieces of content, each with its length before it; a length
/// of 0; the SHA-256 of head and content. Numbers have four bytes, the highest first.
public final class BackupWriter {
    static final byte[] MAGIC = "cay-backup 1\n".getBytes(StandardCharsets.US_ASCII);
    static final int PIECE = 1 << 18;

    private final DataOutputStream out;
    private final List<PartSum> sums = new ArrayList<>();

    public BackupWriter(OutputStream out) throws IOException {
        this.out = new DataOutputStream(out);
        this.out.write(MAGIC);
    }

    /// Writes the content of a part into a stream.
    public interface Content {
        void writeTo(OutputStream out) throws IOException;
    }

    public void file(String name, byte[] content) throws IOException {
        part(new PartHead(name, NodeBackup.Kind.FILE), to -> to.write(content));
    }

    public void part(PartHead head, Content content) throws IOException {
        byte[] text = Json.write(head);
        var digest = Sums.begin();
        digest.update(text);
        out.writeInt(text.length);
        out.write(text);
        var pieces = new Pieces(digest);
        content.writeTo(pieces);
        pieces.writeOut();
        out.writeInt(0);
        byte[] sum = digest.digest();
        out.write(sum);
        sums.add(new PartSum(head.name(), pieces.bytes, HexFormat.of().formatHex(sum)));
    }

    /// Completes the backup; the stream stays open.
    public void end() throws IOException {
        file(PartHead.END, Json.write(List.copyOf(sums)));
        out.flush();
    }

    private final class Pieces extends OutputStream {
        private final MessageDigest digest;
        private final byte[] piece = new byte[PIECE];
        private int length;
        private long bytes;

        private Pieces(MessageDigest digest) {
            this.digest = digest;
        }

        @Override
        public void write(int one) throws IOException {
            write(new byte[] {(byte) one}, 0, 1);
        }

        @Override
        public void write(byte[] from, int offset, int count) throws IOException {
            int at = offset;
            for (int left = count; left > 0; ) {
                if (length == PIECE) {
                    writeOut();
                }
                int some = Math.min(left, PIECE - length);
                System.arraycopy(from, at, piece, length, some);
                length += some;
                at += some;
                left -= some;
            }
        }

        private void writeOut() throws IOException {
            if (length > 0) {
                digest.update(piece, 0, length);
                out.writeInt(length);
                out.write(piece, 0, length);
                bytes += length;
                length = 0;
            }
        }
    }
}
