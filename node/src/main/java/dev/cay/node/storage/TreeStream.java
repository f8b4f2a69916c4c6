package dev.cay.node.storage;

import dev.cay.node.runtime.GuestProgram;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Directory trees as streams of bytes, with all that the root of a sandbox can make in them. `cay-guest tree` does the
/// work, in a process of its own: the number of files is a sandbox's to choose, and their list is held in memory.
public final class TreeStream {
    private static final Logger log = LoggerFactory.getLogger(TreeStream.class);
    private static final Duration END_LIMIT = Duration.ofSeconds(30);
    private static final int COMPLAINT = 4096;
    private static final String INEXACT = "cay-guest: inexact:";

    private final String guest;

    public TreeStream(GuestProgram guest) {
        this.guest = guest.path().toString();
    }

    /// Writes a tree that nothing changes meanwhile. Subvolumes in it, which a sandbox of an earlier Cay may have made
    /// in a volume, are left out.
    public void pack(Path directory, OutputStream out) throws IOException {
        var process = new ProcessBuilder(guest, "tree", "pack", directory.toString()).start();
        try {
            var complaint = complaint(process);
            try (var in = process.getInputStream()) {
                in.transferTo(out);
            }
            String said = requireSuccess(process, complaint, "packing " + directory);
            if (!said.isEmpty()) {
                log.atWarn()
                        .addKeyValue("directory", directory)
                        .addKeyValue("said", said)
                        .log("a backup does not have all of a directory");
            }
        } finally {
            process.destroyForcibly();
        }
    }

    /// Makes a tree in an empty directory.
    ///
    /// @param exact whether inode numbers are to be kept: the directory is the root of a new subvolume then
    /// @return whether they were
    public boolean unpack(Path directory, boolean exact, InputStream in) throws IOException {
        var command = exact
                ? List.of(guest, "tree", "unpack", directory.toString(), "exact")
                : List.of(guest, "tree", "unpack", directory.toString());
        var process = new ProcessBuilder(command).start();
        try {
            var complaint = complaint(process);
            feed(process, in);
            String said = requireSuccess(process, complaint, "unpacking to " + directory);
            return exact && !said.contains(INEXACT);
        } finally {
            process.destroyForcibly();
        }
    }

    /// Feeds a program. If it has ended, its exit code explains the broken pipe.
    private static void feed(Process process, InputStream in) throws IOException {
        byte[] buffer = new byte[1 << 17];
        boolean taken = true;
        try (var out = process.getOutputStream()) {
            for (int length = in.read(buffer); length >= 0; length = in.read(buffer)) {
                if (taken) {
                    taken = write(out, buffer, length);
                }
            }
        } catch (IOException e) {
            if (taken) {
                throw e;
            }
        }
    }

    private static boolean write(OutputStream out, byte[] bytes, int length) {
        try {
            out.write(bytes, 0, length);
            return true;
        } catch (IOException _) {
            return false;
        }
    }

    private static FutureTask<String> complaint(Process process) {
        var task = new FutureTask<>(() -> {
            try (var err = process.getErrorStream()) {
                String text = new String(err.readNBytes(COMPLAINT), StandardCharsets.UTF_8);
                err.transferTo(OutputStream.nullOutputStream());
                return text;
            }
        });
        Thread.ofPlatform().daemon().name("tree-complaint").start(task);
        return task;
    }

    private static String requireSuccess(Process process, FutureTask<String> complaint, String doing) {
        try {
            if (!process.waitFor(END_LIMIT.toSeconds(), TimeUnit.SECONDS)) {
                throw new CayException(ErrorKind.DEADLINE_EXCEEDED, doing + " does not end");
            }
            String said = complaint.get(END_LIMIT.toSeconds(), TimeUnit.SECONDS).strip();
            if (process.exitValue() != 0) {
                throw failed(doing, said);
            }
            return said;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CayException(ErrorKind.CANCELED, doing + " was interrupted", e);
        } catch (java.util.concurrent.ExecutionException | java.util.concurrent.TimeoutException e) {
            throw new UncheckedIOException(new IOException(doing + " failed", e));
        }
    }

    private static CayException failed(String doing, String said) {
        boolean full = said.contains("No space left on device") || said.contains("Disk quota exceeded");
        return new CayException(
                full ? ErrorKind.UNAVAILABLE : ErrorKind.INTERNAL,
                "%s failed: %s".formatted(doing, said.isEmpty() ? "it was ended" : said));
    }
}
