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
    @Override
    public void write(List<Link> links) throws IOException {
        var text = new StringBuilder();
        links.forEach(link -> text.append(link.line()).append('\n'));
        var bytes = ByteBuffer.wrap(text.toString().getBytes(StandardCharsets.UTF_8));
        var options = Set.of(StandardOpenOption.CREATE, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS);
        var mode = PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));
        try (var channel = FileChannel.open(file, options, mode)) {
            long end = channel.size();
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
}
