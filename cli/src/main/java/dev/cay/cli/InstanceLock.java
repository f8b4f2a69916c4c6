package dev.cay.cli;

import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Optional;
import java.util.Set;

/// Allows one daemon at a time on a state directory. The kernel holds the lock, so a file left by a killed daemon means
/// nothing. The daemon must not open the file again, because closing it would release the lock.
final class InstanceLock implements AutoCloseable {
    static final String NAME = "cay.lock";

    private final FileChannel channel;

    private InstanceLock(FileChannel channel) {
        this.channel = channel;
    }

    static Optional<InstanceLock> take(Path stateDir) throws IOException {
        // For root only: a process that can read a file can also lock it, and so keep the daemon from starting.
        var mine = PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));
        FileChannel channel =
                FileChannel.open(file(stateDir), Set.of(StandardOpenOption.CREATE, StandardOpenOption.WRITE), mine);
        // By its name: to do it without following links, Java opens the file and closes it again.
        Files.setPosixFilePermissions(file(stateDir), mine.value());
        try {
            if (channel.tryLock() == null) {
                channel.close();
                return Optional.empty();
            }
            channel.truncate(0);
            String pid = ProcessHandle.current().pid() + "\n";
            channel.write(ByteBuffer.wrap(pid.getBytes(StandardCharsets.US_ASCII)));
            return Optional.of(new InstanceLock(channel));
        } catch (IOException e) {
            channel.close();
            throw e;
        }
    }

    /// Whether another process holds the lock. Not for the daemon itself, which would lose its own.
    static boolean isHeld(Path stateDir) throws IOException {
        try (var channel = FileChannel.open(file(stateDir), StandardOpenOption.WRITE);
                var lock = channel.tryLock()) {
            return lock == null;
        } catch (NoSuchFileException _) {
            return false;
        }
    }

    /// The process that holds the lock; valid only right after {@link #take} failed.
    static ProcessHandle holder(Path stateDir) throws IOException {
        String text = Files.readString(file(stateDir)).strip();
        return Optional.of(text)
                .filter(pid -> pid.matches("[1-9]\\d{0,9}"))
                .flatMap(pid -> ProcessHandle.of(Long.parseLong(pid)))
                .orElseThrow(() -> new CayException(
                        ErrorKind.UNAVAILABLE,
                        "a daemon that is just starting or stopping holds %s; try again".formatted(file(stateDir))));
    }

    @Override
    public void close() {
        try {
            channel.close();
        } catch (IOException _) {
            // The process is ending, and releases the lock.
        }
    }

    private static Path file(Path stateDir) {
        return stateDir.resolve(NAME);
    }
}
