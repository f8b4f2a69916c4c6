package dev.cay.cli;

import com.github.luben.zstd.ZstdInputStreamNoFinalizer;
import dev.cay.backup.BackupReader;
import dev.cay.backup.Manifest;
import dev.cay.config.CayConfig;
import dev.cay.http.Json;
import dev.cay.life.RootOnly;
import dev.cay.life.WholeFile;
import dev.cay.node.NodeRestore;
import dev.cay.node.host.HostPlan;
import dev.cay.node.snapshot.SavedOn;
import dev.cay.server.store.sqlite.SqliteStore;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.BufferedInputStream;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.Optional;

/// Reads a backup into a staged state directory. When this returns, all of the backup was there and is whole.
final class Restore {
    private static final byte[] ZSTD = {0x28, (byte) 0xb5, 0x2f, (byte) 0xfd};
    private static final int BUFFER = 1 << 18;
    private static final Path OPERATOR_CERTIFICATES = Path.of("/usr/local/share/ca-certificates");
    private static final String FILES_ONLY = "it was restored from a backup without its memory";

    private final CayConfig config;
    private final StagedState staged;
    private final boolean filesOnly;
    private final String filesOnlyCommand;
    private final RestoredStore store;
    private final BackupProgress progress = new BackupProgress(System.err);

    /// @param filesOnlyCommand what to run where memory does not fit
    Restore(CayConfig config, StagedState staged, boolean filesOnly, String filesOnlyCommand) {
        this.config = config;
        this.staged = staged;
        this.filesOnly = filesOnly;
        this.filesOnlyCommand = filesOnlyCommand;
        this.store = new RestoredStore(config);
    }

    void run(InputStream in) throws IOException {
        var reader = new BackupReader(unpacked(in));
        var manifest = manifest(reader);
        requireFit(manifest);
        store.requireFree();
        var directory = staged.begin();
        try (var node = new NodeRestore(target(directory), manifest.gateway(), filesOnly ? FILES_ONLY : null)) {
            for (var part = reader.next(); part.isPresent(); part = reader.next()) {
                progress.at(part.get().name());
                take(part.get(), node, directory);
            }
            for (String name : node.finish()) {
                System.err.println(
                        "  files of %s have other inode numbers than before; programs in its memory may notice"
                                .formatted(name));
            }
        } catch (CayException e) {
            throw noRoom(e).orElse(e);
        } catch (IOException e) {
            throw noRoom(e)
                    .orElseGet(() -> new CayException(
                            ErrorKind.UNAVAILABLE, "the backup could not be restored: " + e.getMessage(), e));
        }
        store.fill(directory);
        tell(manifest);
    }

    /// Opens the backup, which is compressed unless the user unpacked it.
    private InputStream unpacked(InputStream in) throws IOException {
        var buffered = new BufferedInputStream(new Counting(in, progress), BUFFER);
        buffered.mark(ZSTD.length);
        byte[] first = buffered.readNBytes(ZSTD.length);
        buffered.reset();
        return Arrays.equals(first, ZSTD)
                ? new BufferedInputStream(new ZstdInputStreamNoFinalizer(buffered), BUFFER)
                : buffered;
    }

    private static Manifest manifest(BackupReader reader) {
        var manifest = reader.next()
                .filter(part -> part.name().equals(Manifest.NAME))
                .map(part -> Json.read(part.bytes(), Manifest.class));
        return manifest.orElseThrow(
                () -> new CayException(ErrorKind.INVALID_ARGUMENT, "the backup does not say what it is of"));
    }

    /// Checks that memory can be restored: processor, kernel and CRIU must support what it uses.
    private void requireFit(Manifest manifest) {
        if (filesOnly || manifest.machine() == null || manifest.sandboxes() + manifest.snapshots() == 0) {
            return;
        }
        var there = Json.mapper().treeToValue(manifest.machine(), SavedOn.class);
        unfit(there).ifPresent(reason -> {
            throw new CayException(
                    ErrorKind.NOT_RESTORED,
                    "the memory of its sandboxes cannot be restored on this machine: %s; to restore files without memory, run: sudo %s"
                            .formatted(reason, filesOnlyCommand));
        });
    }

    private static Optional<String> unfit(SavedOn there) {
        try {
            var here = SavedOn.here();
            return there.unfitFor(here).or(() -> there.newerKernelThan(here));
        } catch (CayException e) {
            return Optional.of("this machine has no CRIU that works");
        }
    }

    private NodeRestore.Target target(Path directory) {
        var plan = new HostPlan(
                config.instance(), config.storage().uidBase(), config.network().range());
        long usable = config.stateDir().toFile().getUsableSpace();
        return new NodeRestore.Target(
                config.stateDir(),
                directory,
                config.cacheDir(),
                config.storage().poolSizeMBWithin(usable),
                plan.gateway(),
                config.network().trustHostCertificates() ? OPERATOR_CERTIFICATES : null);
    }

    private void take(BackupReader.Part part, NodeRestore node, Path directory) throws IOException {
        switch (part.name()) {
            case "store" -> takeStore(part, directory.resolve("cay.db"));
            // The target's configuration decides where things are, so the backup's is only put beside it.
            case "settings" -> WholeFile.write(directory.resolve(StagedState.SETTINGS), part.bytes());
            default -> {
                if (!node.take(new Source(part))) {
                    throw new CayException(
                            ErrorKind.INVALID_ARGUMENT,
                            "the backup has a part '%s' that this Cay does not know; use a newer Cay"
                                    .formatted(part.name()));
                }
                part.requireWhole();
            }
        }
    }

    /// Opened once, so that records of a newer Cay are refused now.
    private static void takeStore(BackupReader.Part part, Path file) throws IOException {
        RootOnly.file(file);
        try (var out = Files.newOutputStream(file, StandardOpenOption.WRITE)) {
            part.transferTo(out);
        }
        part.requireWhole();
        SqliteStore.open(file).close();
    }

    private Optional<CayException> noRoom(Exception e) {
        for (Throwable each = e; each != null; each = each.getCause()) {
            if (String.valueOf(each.getMessage()).matches("(?s).*(No space left|Disk quota exceeded).*")) {
                return Optional.of(new CayException(
                        ErrorKind.UNAVAILABLE,
                        "there is no room for all of the backup; free disk space in %s and %s, or set a larger storage.poolSizeMB (now %d MB); nothing was changed"
                                .formatted(
                                        config.stateDir(),
                                        config.cacheDir(),
                                        config.storage()
                                                .poolSizeMBWithin(config.stateDir()
                                                        .toFile()
                                                        .getUsableSpace())),
                        e));
            }
        }
        return Optional.empty();
    }

    private void tell(Manifest manifest) {
        System.err.println("backup of %s by Cay %s: %d sandboxes, %d snapshots%s"
                .formatted(
                        manifest.at(),
                        manifest.version(),
                        manifest.sandboxes(),
                        manifest.snapshots(),
                        filesOnly ? ", without memory" : ""));
        System.err.println("  its configuration will be in %s; take from it what shall hold here"
                .formatted(config.stateDir().resolve(StagedState.SETTINGS)));
        if (manifest.leftOut() > 0) {
            System.err.println(
                    "  %d sandboxes ran and are not in it; they will be listed as ended".formatted(manifest.leftOut()));
        }
    }

    private record Source(BackupReader.Part part) implements NodeRestore.Source {
        @Override
        public String name() {
            return part.name();
        }

        @Override
        public byte[] bytes() {
            return part.bytes();
        }

        @Override
        public InputStream stream() {
            return part;
        }

        @Override
        public void requireWhole() {
            part.requireWhole();
        }
    }

    private static final class Counting extends FilterInputStream {
        private final BackupProgress progress;

        private Counting(InputStream in, BackupProgress progress) {
            super(in);
            this.progress = progress;
        }

        @Override
        public int read(byte[] bytes, int offset, int count) throws IOException {
            int length = in.read(bytes, offset, count);
            progress.add(Math.max(0, length));
            return length;
        }
    }
}
