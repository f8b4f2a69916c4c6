package dev.cay.node.image;

import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Collection;
import java.util.List;
import java.util.Optional;

/// Something on the disk that nothing refers to any more.
///
/// @param what   its kind, like `layer`
/// @param name   its name, or their number
/// @param bytes  its size on disk
/// @param remove removes it; may throw a {@link CayException}
public record Unused(String what, String name, long bytes, Runnable remove) {
    /// Deletes one file.
    public interface Deletion {
        void delete(Path file) throws IOException;
    }

    /// Small files, which are worth one line.
    ///
    /// @return empty if there are none
    public static Optional<Unused> files(String what, Collection<Path> files, Deletion deletion) {
        if (files.isEmpty()) {
            return Optional.empty();
        }
        var all = List.copyOf(files);
        long bytes = all.stream().mapToLong(file -> file.toFile().length()).sum();
        return Optional.of(new Unused(what, Integer.toString(all.size()), bytes, () -> {
            for (var file : all) {
                try {
                    deletion.delete(file);
                } catch (IOException e) {
                    throw new CayException(ErrorKind.UNAVAILABLE, "cannot delete " + file, e);
                }
            }
        }));
    }
}
