package dev.cay.cli;

import com.github.luben.zstd.ZstdOutputStreamNoFinalizer;
import dev.cay.backup.BackupReader;
import dev.cay.backup.Manifest;
import dev.cay.cli.local.ConfigOptions;
import dev.cay.cli.local.Root;
import dev.cay.http.Json;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.EOFException;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.channels.Channels;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
        name = "backup",
        mixinStandardHelpOptions = true,
        description = "Write all of this Cay into one file while it serves: records, keys, templates, paused sandboxes"
                + " with their memory, snapshots, secrets and settings.",
        footer = {
            "",
            "The file holds all secrets of this Cay. Only its owner may read it. Sandboxes that run",
            "are not in it unless --running is given: then each is saved while it runs, and is paused after a restore.",
            "",
            "Examples:",
            "  sudo ./cay backup /var/backups/cay-monday",
            "  sudo ./cay backup --running /var/backups/cay-monday",
            "  sudo ./cay backup - | ssh backup@other 'cat > cay-monday'"
        })
final class BackupCommand implements Callable<Integer> {
    private static final int LEVEL = 1;

    @Mixin
    private ConfigOptions options = new ConfigOptions();

    @Parameters(paramLabel = "FILE", description = "Where to write it; - for standard output.")
    private String file = "";

    @Option(names = "--running", description = "Save sandboxes that run too; each is frozen for a moment.")
    private boolean running;

    @Override
    public Integer call() {
        Root.require("backup", "to read secrets", options.command("backup " + file));
        Interruptible.run(() -> {
            if (file.equals("-")) {
                // By its channel, which Ctrl-C interrupts.
                try (var channel = new FileOutputStream(FileDescriptor.out).getChannel()) {
                    tell(receive(new Unclosed(Channels.newOutputStream(channel))), "standard output");
                }
            } else {
                toFile(Path.of(file).toAbsolutePath());
            }
            return null;
        });
        return 0;
    }

    /// Writes to a file that gets its name only when everything is there, was checked, and is on the disk.
    private void toFile(Path target) throws IOException {
        if (Files.exists(target)) {
            throw new CayException(
                    ErrorKind.ALREADY_EXISTS, "%s exists already; give another name, or delete it".formatted(target));
        }
        Path parent = Objects.requireNonNull(target.getParent());
        if (!Files.isDirectory(parent)) {
            throw new CayException(ErrorKind.NOT_FOUND, "there is no directory " + parent);
        }
        Path draft = Files.createTempFile(
                parent,
                "." + target.getFileName() + ".",
                ".part",
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        try {
            Manifest manifest;
            try (var channel = FileChannel.open(draft, StandardOpenOption.WRITE)) {
                manifest = receive(new Unclosed(Channels.newOutputStream(channel)));
                channel.force(true);
            }
            Files.move(draft, target, StandardCopyOption.ATOMIC_MOVE);
            tell(manifest, "%s, %s".formatted(target, PoolCommand.size(Files.size(target))));
        } finally {
            Files.deleteIfExists(draft);
        }
    }

    private Manifest receive(OutputStream to) throws IOException {
        var body = new HashMap<String, Object>(Map.of("running", running));
        var settings = options.file();
        if (settings.isPresent()) {
            body.put("settings", Files.readString(settings.get()));
        }
        System.err.println("  .. Cay looks at its records%s".formatted(running ? " and saves what runs" : ""));
        try (var packed = new ZstdOutputStreamNoFinalizer(to, LEVEL)) {
            return Api.ofOperator(options).receive("/admin/backups", body, answer -> check(answer, packed));
        } catch (IOException e) {
            throw failed(e);
        } catch (CayException e) {
            throw e.kind() == ErrorKind.INVALID_ARGUMENT ? unfinished(e) : e;
        }
    }

    /// What the reader of the stream says is for those who restore. Here a write failed, or the daemon stopped sending.
    private CayException unfinished(CayException e) {
        return e.getCause() instanceof IOException cause && !(cause instanceof EOFException)
                ? failed(cause)
                : new CayException(
                        ErrorKind.UNAVAILABLE,
                        "no backup was written, as Cay stopped sending in the middle; `cay logs` says why",
                        e);
    }

    private CayException failed(IOException e) {
        if (e instanceof ClosedByInterruptException) {
            return new CayException(ErrorKind.CANCELED, "interrupted; no backup was written", e);
        }
        boolean full = String.valueOf(e.getMessage()).contains("No space left");
        return new CayException(
                ErrorKind.UNAVAILABLE,
                full
                        ? "%s is full; free some of it, or write the backup elsewhere"
                                .formatted(
                                        file.equals("-")
                                                ? "the disk that standard output goes to"
                                                : "the disk of " + file)
                        : "the backup could not be written: %s; `cay logs` may say why"
                                .formatted(Objects.requireNonNullElse(e.getMessage(), e.toString())),
                e);
    }

    /// Checks the stream on its way into the file.
    private static Manifest check(InputStream answer, OutputStream packed) throws IOException {
        var progress = new BackupProgress(System.err);
        var reader = new BackupReader(new Passing(answer, packed, progress));
        Manifest manifest = null;
        for (var part = reader.next(); part.isPresent(); part = reader.next()) {
            progress.at(part.get().name());
            if (part.get().name().equals(Manifest.NAME)) {
                manifest = Json.read(part.get().bytes(), Manifest.class);
            }
            part.get().requireWhole();
        }
        return Objects.requireNonNull(manifest, "a backup without a manifest");
    }

    private void tell(Manifest manifest, String where) {
        System.err.println("backup written to %s: %d sandboxes, %d snapshots"
                .formatted(where, manifest.sandboxes(), manifest.snapshots()));
        if (manifest.leftOut() > 0) {
            System.err.println("  %d sandboxes are not in it, as they ran%s"
                    .formatted(manifest.leftOut(), running ? " and could not be saved" : "; --running saves them too"));
        }
        manifest.missing().forEach(what -> System.err.println("  not in it: " + what));
    }

    /// The compressed end of a stream must be written before its file is forced to the disk.
    private static final class Unclosed extends OutputStream {
        private final OutputStream to;

        private Unclosed(OutputStream to) {
            this.to = to;
        }

        @Override
        public void write(int one) throws IOException {
            to.write(one);
        }

        @Override
        public void write(byte[] bytes, int offset, int count) throws IOException {
            to.write(bytes, offset, count);
        }
    }

    /// Writes everything that is read from it to another stream.
    private static final class Passing extends FilterInputStream {
        private final OutputStream to;
        private final BackupProgress progress;

        private Passing(InputStream in, OutputStream to, BackupProgress progress) {
            super(in);
            this.to = to;
            this.progress = progress;
        }

        @Override
        public int read() throws IOException {
            int one = in.read();
            if (one >= 0) {
                to.write(one);
            }
            return one;
        }

        @Override
        public int read(byte[] bytes, int offset, int count) throws IOException {
            int length = in.read(bytes, offset, count);
            if (length > 0) {
                to.write(bytes, offset, length);
                progress.add(length);
            }
            return length;
        }

        @Override
        public long skip(long count) throws IOException {
            return Math.max(0, read(new byte[(int) Math.min(count, 1 << 16)]));
        }
    }
}
