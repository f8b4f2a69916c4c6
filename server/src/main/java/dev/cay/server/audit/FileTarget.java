package dev.cay.server.audit;

import dev.cay.server.audit.AuditChain.Link;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Set;

/// A file of JSON lines, created with permissions for root only. It is opened for each portion, so log rotation can
/// rename it. An existing file keeps its permissions.
record FileTarget(Path file) implements AuditExport.Target {
    /// More than an entry has.
    private static final int LONGEST = 1 << 16;

    @Override
    public void write(List<Link> links) throws IOException {
        var text = new StringBuilder();
        links.forEach(link -> text.append(link.line()).append('\n'));
        var bytes = ByteBuffer.wrap(text.toString().getBytes(StandardCharsets.UTF_8));
        var options = Set.of(
                StandardOpenOption.CREATE,
                StandardOpenOption.READ,
                StandardOpenOption.WRITE,
                LinkOption.NOFOLLOW_LINKS);
        var mode = PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));
        try (var channel = FileChannel.open(file, options, mode)) {
            long end = wholeLines(channel);
            channel.truncate(end);
            try {
                channel.position(end);
                while (bytes.hasRemaining()) {
                    channel.write(bytes);
                }
                channel.force(false);
            } catch (IOException e) {
                // Half a line of a full disk would spoil the next one.
                channel.truncate(end);
                throw e;
            }
        }
    }

    /// The length up to the last line that was written whole. A daemon that is killed while it writes leaves half an
    /// entry, which comes again.
    private static long wholeLines(FileChannel channel) throws IOException {
        long size = channel.size();
        var tail = ByteBuffer.allocate((int) Math.min(size, LONGEST));
        while (tail.hasRemaining() && channel.read(tail, size - tail.remaining()) >= 0) {
            // Goes on.
        }
        int begin = tail.position();
        while (begin > 0 && tail.get(begin - 1) != '\n') {
            begin--;
        }
        // Anything else is not Cay's to cut.
        boolean half = begin < tail.position() && tail.get(begin) == '{';
        return half ? size - tail.position() + begin : size;
    }
}
