package dev.cay.node.image.oci;

import dev.cay.life.Trees;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// A directory for bytes of an image until they are unpacked. It is removed at the end. Directories that a killed
/// daemon
/// left are removed by a later pull, when they are older than any pull can be.
final class Staging implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(Staging.class);

    private final Path directory;

    private Staging(Path directory) {
        this.directory = directory;
    }

    /// @param limit for a whole pull
    static Staging open(Path parent, Duration limit) throws IOException {
        Files.createDirectories(parent);
        removeAbandoned(parent, limit.multipliedBy(2));
        return new Staging(Files.createTempDirectory(parent, "pull-"));
    }

    private static void removeAbandoned(Path parent, Duration age) throws IOException {
        var oldest = Instant.now().minus(age);
        try (var all = Files.newDirectoryStream(parent)) {
            for (var each : all) {
                if (Files.getLastModifiedTime(each).toInstant().isBefore(oldest)) {
                    Trees.delete(each);
                }
            }
        }
    }

    Path directory() {
        return directory;
    }

    @Override
    public void close() {
        try {
            Trees.delete(directory);
        } catch (IOException e) {
            log.atWarn().setCause(e).addKeyValue("directory", directory).log("bytes of an image stay for now");
        }
    }
}
