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

/// Only one daemon may work on a state directory. The kernel holds the lock, so a file left by a killed daemon means
/// nothing. Nobody in the daemon may open the file again: closing it would give the lock away.
final class InstanceLock implements AutoCloseable {
    static final String NAME = "cay.lock";

    private final FileChannel channel;

    private InstanceLock(FileChannel channel) {
        this.channel = channel;
    }

    static Optional<InstanceLock> take(Path stateDir) throws IOException {
        // For root's eyes only: whoever may read a file may also lock it, and so keep the daemon from starting.
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

    /// Whether somebody else holds the lock. Not for the daemon itself, which would lose its own.
    static boolean isHeld(Path stateDir) throws IOException {
        try (var channel = FileChannel.open(file(stateDir), StandardOpenOption.WRITE);
                var lock = channel.tryLock()) {
            return lock == null;
        } catch (NoSuchFileException _) {
            return false;
        }
    }

    /// Who holds the lock; only to be believed right after {@link #take} found it taken.
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
            // The process ends in a moment, and the lock with it.
        }
    }

    private static Path file(Path stateDir) {
        return stateDir.resolve(NAME);
    }
}
