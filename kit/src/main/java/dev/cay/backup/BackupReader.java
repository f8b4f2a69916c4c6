package dev.cay.backup;

import dev.cay.http.Json;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.type.TypeReference;

/// Reads a backup, part by part, and refuses one that is cut or damaged.
///
/// A part is valid only after {@link Part#requireWhole}, and the whole backup only after {@link #next} returned empty.
public final class BackupReader {
    private static final int LONGEST_HEAD = 1 << 16;
    private static final int SMALL = 64 << 20;

    private final DataInputStream in;
    private final List<PartSum> sums = new ArrayList<>();
    private final Set<String> names = new HashSet<>();
    private @Nullable Part last;
    private boolean ended;

    public BackupReader(InputStream in) {
        this.in = new DataInputStream(in);
        try {
            if (!Arrays.equals(in.readNBytes(BackupWriter.MAGIC.length), BackupWriter.MAGIC)) {
                throw new CayException(
                        ErrorKind.INVALID_ARGUMENT, "this is no backup of Cay, or one of a version that is not known");
            }
        } catch (IOException e) {
            throw unreadable("its first bytes", e);
        }
    }

    /// The next part; empty when the whole backup was read and its checksums are right. Skips, and checks, what was not
    /// read of the part before.
    public Optional<Part> next() {
        try {
            if (last != null) {
                last.finish();
            }
            if (ended) {
                return Optional.empty();
            }
            var part = new Part(in.readInt());
            last = part;
            if (part.name().equals(PartHead.END)) {
                ended = true;
                requireAll(part.bytes());
                return Optional.empty();
            }
            if (!names.add(part.name())) {
                throw damaged(part.name());
            }
            return Optional.of(part);
        } catch (IOException e) {
            throw unreadable(last == null ? "its first part" : "the part after '%s'".formatted(last.name()), e);
        }
    }

    private void requireAll(byte[] list) {
        var wanted = Json.read(list, new TypeReference<List<PartSum>>() {});
        sums.removeLast();
        if (!sums.equals(wanted)) {
            throw damaged(PartHead.END);
        }
    }

    private static CayException damaged(String part) {
        return new CayException(
                ErrorKind.INVALID_ARGUMENT,
                "the backup is damaged: part '%s' is not as it was written; use another copy of it".formatted(part));
    }

    private static CayException unreadable(String where, IOException cause) {
        boolean cut = cause instanceof EOFException;
        return new CayException(
                ErrorKind.INVALID_ARGUMENT,
                cut
                        ? "the backup is cut: it ends in %s; use another copy of it".formatted(where)
                        : "the backup cannot be read at %s: %s".formatted(where, cause.getMessage()),
                cause);
    }

    /// One part. Its content is read once, before the next part.
    public final class Part extends InputStream {
        private final PartHead head;
        private final MessageDigest digest = Sums.begin();
        private long bytes;
        private int left;
        private boolean over;

        private Part(int length) throws IOException {
            if (length <= 0 || length > LONGEST_HEAD) {
                throw damaged("after "
                        + (sums.isEmpty() ? "the first bytes" : sums.getLast().name()));
            }
            byte[] text = in.readNBytes(length);
            if (text.length < length) {
                throw new EOFException();
            }
            digest.update(text);
            head = parse(text);
        }

        private static PartHead parse(byte[] text) {
            try {
                var head = Json.read(text, PartHead.class);
                if (head != null && head.name() != null && head.kind() != null) {
                    return head;
                }
            } catch (CayException _) {
                // Said below.
            }
            throw damaged("a head");
        }

        public String name() {
            return head.name();
        }

        public PartHead head() {
            return head;
        }

        @Override
        public int read() throws IOException {
            byte[] one = new byte[1];
            return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
        }

        @Override
        public int read(byte[] to, int offset, int count) throws IOException {
            if (left == 0 && !over) {
                beginPiece();
            }
            if (over) {
                return -1;
            }
            int length = in.read(to, offset, Math.min(count, left));
            if (length < 0) {
                throw new EOFException("the backup is cut in part '%s'".formatted(name()));
            }
            digest.update(to, offset, length);
            left -= length;
            bytes += length;
            return length;
        }

        private void beginPiece() throws IOException {
            left = in.readInt();
            if (left < 0 || left > BackupWriter.PIECE) {
                throw damaged(name());
            }
            if (left == 0) {
                over = true;
                byte[] sum = in.readNBytes(Sums.LENGTH);
                if (sum.length < Sums.LENGTH) {
                    throw new EOFException();
                }
                if (!MessageDigest.isEqual(sum, digest.digest())) {
                    throw damaged(name());
                }
                sums.add(new PartSum(name(), bytes, HexFormat.of().formatHex(sum)));
            }
        }

        /// The content of a small part, which is whole then.
        public byte[] bytes() {
            try {
                byte[] all = readNBytes(SMALL + 1);
                if (all.length > SMALL) {
                    throw damaged(name());
                }
                requireWhole();
                return all;
            } catch (IOException e) {
                throw unreadable("part '%s'".formatted(name()), e);
            }
        }

        /// Reads to the end of it. Nothing that was made of the part may be used before this returns.
        public void requireWhole() {
            try {
                finish();
            } catch (IOException e) {
                throw unreadable("part '%s'".formatted(name()), e);
            }
        }

        private void finish() throws IOException {
            while (!over) {
                skipNBytes(Math.max(left, 0));
                if (left == 0) {
                    beginPiece();
                }
            }
        }

        /// The stream of all parts stays open.
        @Override
        public void close() {}
    }
}
