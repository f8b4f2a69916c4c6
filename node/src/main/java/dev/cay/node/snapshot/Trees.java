package dev.cay.node.snapshot;

import dev.cay.node.linux.HostThreads;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/// Small directory trees of the node's own, in which there are no links.
final class Trees {
    private Trees() {}

    /// Replaces `to`. A source that is not there is an empty one.
    static void copy(Path from, Path to, HostThreads work, Duration limit) {
        try {
            work.call(limit, () -> {
                delete(to);
                Files.createDirectories(to);
                if (Files.exists(from)) {
                    Files.walkFileTree(from, new Copy(from, to));
                }
                return true;
            });
        } catch (IOException e) {
            throw new CayException(ErrorKind.INTERNAL, "cannot copy %s to %s".formatted(from, to), e);
        }
    }

    static void delete(Path tree) {
        try {
            Files.walkFileTree(tree, new SimpleFileVisitor<>() {
                @Override
                public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                    Files.deleteIfExists(file);
                    return FileVisitResult.CONTINUE;
                }

                @Override
                public FileVisitResult postVisitDirectory(Path directory, @Nullable IOException failure)
                        throws IOException {
                    Files.deleteIfExists(directory);
                    return FileVisitResult.CONTINUE;
                }
            });
        } catch (NoSuchFileException e) {
            // Gone already.
        } catch (IOException e) {
            throw new CayException(ErrorKind.INTERNAL, "cannot delete " + tree, e);
        }
    }

    private static final class Copy extends SimpleFileVisitor<Path> {
        private final Path from;
        private final Path to;

        private Copy(Path from, Path to) {
            this.from = from;
            this.to = to;
        }

        @Override
        public FileVisitResult preVisitDirectory(Path directory, BasicFileAttributes attributes) throws IOException {
            Files.createDirectories(to.resolve(from.relativize(directory)));
            return FileVisitResult.CONTINUE;
        }

        @Override
        public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
            Files.copy(file, to.resolve(from.relativize(file)), StandardCopyOption.COPY_ATTRIBUTES);
            return FileVisitResult.CONTINUE;
        }
    }
}
