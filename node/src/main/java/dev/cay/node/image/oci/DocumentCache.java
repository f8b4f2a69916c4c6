package dev.cay.node.image.oci;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/// Manifests and configurations by digest, so that an image that is here is not fetched again.
final class DocumentCache {
    interface Fetch {
        byte[] get() throws IOException;
    }

    private final Path directory;

    DocumentCache(Path directory) {
        this.directory = directory;
    }

    /// @param fetch gives bytes of the right digest
    byte[] get(Blob blob, Fetch fetch) throws IOException {
        var file = directory.resolve(blob.digest().hex());
        if (Files.isRegularFile(file) && Files.size(file) == blob.size()) {
            byte[] known = Files.readAllBytes(file);
            if (Digest.of(known).equals(blob.digest())) {
                Files.setLastModifiedTime(file, FileTime.from(Instant.now()));
                return known;
            }
        }
        byte[] fresh = fetch.get();
        Files.createDirectories(directory);
        var unfinished = Files.createTempFile(directory, "new-", "");
        Files.write(unfinished, fresh);
        Files.move(unfinished, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        return fresh;
    }

    /// Documents that were not used since.
    List<Path> unused(Instant before) throws IOException {
        if (!Files.isDirectory(directory)) {
            return List.of();
        }
        var unused = new ArrayList<Path>();
        try (var files = Files.newDirectoryStream(directory)) {
            for (var file : files) {
                if (!Files.getLastModifiedTime(file).toInstant().isAfter(before)) {
                    unused.add(file);
                }
            }
        }
        return unused;
    }
}
