package dev.cay.node.ingress;

import com.google.protobuf.Timestamp;
import dev.cay.http.Exchange;
import dev.cay.node.files.Entry;
import dev.cay.wire.filesystem.EntryInfo;
import dev.cay.wire.filesystem.FileType;
import java.time.Instant;

/// Entries in the words of the RPC.
final class EntryInfos {
    private static final Instant FIRST = Instant.parse("0001-01-01T00:00:00Z");
    private static final Instant LAST = Instant.parse("9999-12-31T23:59:59.999999999Z");

    private EntryInfos() {}

    /// Whether the client needs the short form: very old Python clients fail at fields they do not know. The answer has
    /// a header that says so.
    static boolean wantsLittle(Exchange exchange) {
        String agent = exchange.header("User-Agent");
        boolean little = agent != null && agent.startsWith("connect-python");
        if (little) {
            exchange.with("X-E2B-Legacy-SDK", "true");
        }
        return little;
    }

    /// @param little only name, type and path
    static EntryInfo of(Entry entry, boolean little) {
        var info = EntryInfo.newBuilder()
                .setName(entry.path().name())
                .setType(
                        switch (entry.type()) {
                            case FILE -> FileType.FILE_TYPE_FILE;
                            case DIRECTORY -> FileType.FILE_TYPE_DIRECTORY;
                            case OTHER -> FileType.FILE_TYPE_UNSPECIFIED;
                        })
                .setPath(entry.path().text());
        if (little) {
            return info.build();
        }
        info.setSize(entry.size())
                .setMode(entry.mode())
                .setPermissions(entry.permissions())
                .setOwner(entry.owner())
                .setGroup(entry.group())
                .setModifiedTime(time(entry.modified()));
        if (!entry.metadata().isEmpty()) {
            info.putAllMetadata(entry.metadata());
        }
        if (entry.symlinkTarget() != null) {
            info.setSymlinkTarget(entry.symlinkTarget());
        }
        return info.build();
    }

    /// File systems keep times that the protocol cannot express. The nearest possible time is sent instead.
    private static Timestamp time(Instant modified) {
        var near = modified.isBefore(FIRST) ? FIRST : modified.isAfter(LAST) ? LAST : modified;
        return Timestamp.newBuilder()
                .setSeconds(near.getEpochSecond())
                .setNanos(near.getNano())
                .build();
    }
}
