package dev.cay.node.files;

import dev.cay.node.linux.Descriptor;
import dev.cay.node.linux.EntryReader;
import dev.cay.node.linux.ErrnoException;
import dev.cay.node.linux.FileCalls;
import dev.cay.node.linux.FileStatus;
import java.io.IOException;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// Makes the metadata of files that clients see. Runs on a file thread.
record Entries(FileWork work, Accounts accounts) {
    private static final long BLOCK = 4096;

    /// The entry at the path. Any thread may call this.
    Entry stat(SandboxPath path) throws IOException {
        return work.run(path, Account.ROOT, () -> {
            accounts.refresh();
            try (var file = FileCalls.openInRoot(work.root(), path.text(), FileCalls.PATH | FileCalls.NOFOLLOW, 0)) {
                return of(path, file);
            }
        });
    }

    /// The entry of a file that is open, possibly with O_PATH.
    Entry of(SandboxPath path, Descriptor file) throws IOException {
        var own = FileCalls.stat(file);
        return of(path, own, own.regular() ? Metadata.read(file) : Map.of());
    }

    /// An entry of a directory, without opening it; null if there is none.
    @Nullable
    Entry of(SandboxPath path, EntryReader reader, Descriptor directory, String name) throws IOException {
        var own = reader.find(directory, name);
        if (own == null) {
            return null;
        }
        return of(path, own, own.regular() ? Metadata.read(reader, directory, name) : Map.of());
    }

    private Entry of(SandboxPath path, FileStatus own, Map<String, String> metadata) throws IOException {
        FileStatus target = own;
        String resolved = null;
        if (own.symlink()) {
            resolved = path.text();
            try (var end = FileCalls.openInRoot(work.root(), path.text(), FileCalls.PATH, 0)) {
                target = FileCalls.stat(end);
                resolved = FileCalls.pathOf(end);
            } catch (ErrnoException e) {
                target = own;
            }
        }
        var type = target.directory() ? Entry.Type.DIRECTORY : target.regular() ? Entry.Type.FILE : Entry.Type.OTHER;
        return new Entry(
                path,
                type,
                size(own),
                target.permissions() & 0777,
                Entry.permissions(own.mode()),
                accounts.userName(own.uid() - work.uidBase()),
                accounts.groupName(own.gid() - work.uidBase()),
                own.modified(),
                resolved,
                metadata);
    }

    /// The size; of a directory in whole blocks, as most file systems count: btrfs gives 0 for an empty one, which
    /// clients do not expect.
    private static long size(FileStatus own) {
        return own.directory() ? Math.max(1, Math.ceilDiv(own.size(), BLOCK)) * BLOCK : own.size();
    }
}
