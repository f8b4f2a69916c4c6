package dev.cay.life;

import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import org.jspecify.annotations.Nullable;

/// Does something to each entry of a directory tree: to the content of a directory before the directory itself. Links
/// are entries like any other. Entries may disappear meanwhile.
final class EachEntry extends SimpleFileVisitor<Path> {
    /// What is done to an entry.
    interface Work {
        void on(Path entry) throws IOException;
    }

    private final Work work;

    EachEntry(Work work) {
        this.work = work;
    }

    @Override
    public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
        work.on(file);
        return FileVisitResult.CONTINUE;
    }

    @Override
    public FileVisitResult visitFileFailed(Path file, IOException failure) throws IOException {
        if (failure instanceof NoSuchFileException) {
            return FileVisitResult.CONTINUE;
        }
        throw failure;
    }

    @Override
    public FileVisitResult postVisitDirectory(Path directory, @Nullable IOException failure) throws IOException {
        if (failure != null) {
            throw failure;
        }
        work.on(directory);
        return FileVisitResult.CONTINUE;
    }
}
