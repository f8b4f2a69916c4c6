package dev.cay.life;

import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.BasicFileAttributes;

/// Directory trees that Cay made itself, not those of sandboxes: a link is an entry like any other and is never
/// followed.
public final class Trees {
    private Trees() {}

    /// Deletes a tree. Files that disappear meanwhile, or never existed, are ignored.
    public static void delete(Path tree) throws IOException {
        Files.walkFileTree(tree, new EachEntry(Files::deleteIfExists));
    }

    /// Replaces `to`. A source that is not there is an empty one.
    public static void copy(Path from, Path to) throws IOException {
        delete(to);
        Files.createDirectories(to);
        if (Files.exists(from)) {
            Files.walkFileTree(from, new Copy(from, to));
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
            Files.copy(
                    file,
                    to.resolve(from.relativize(file)),
                    StandardCopyOption.COPY_ATTRIBUTES,
                    LinkOption.NOFOLLOW_LINKS);
            return FileVisitResult.CONTINUE;
        }
    }
}
