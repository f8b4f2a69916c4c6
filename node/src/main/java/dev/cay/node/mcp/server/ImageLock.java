package dev.cay.node.mcp.server;

import dev.cay.http.Json;
import dev.cay.life.WholeFile;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.type.TypeReference;

/// The lock file: the digest that each image name means on this machine. An operator may delete an entry, so that the
/// next start of the server pulls the current image of that name. Thread-safe, and safe against other processes.
final class ImageLock {
    private static final TypeReference<Map<String, ServerImage>> TYPE = new TypeReference<>() {};

    private final Path file;

    ImageLock(Path file) {
        this.file = file;
    }

    @Nullable
    ServerImage find(String reference) {
        return read().get(reference);
    }

    Set<String> layers() {
        return read().values().stream()
                .flatMap(image -> image.layers().stream())
                .collect(Collectors.toSet());
    }

    synchronized void put(String reference, ServerImage image) {
        try (var guard = FileChannel.open(
                        file.resolveSibling("." + file.getFileName() + ".guard"),
                        StandardOpenOption.CREATE,
                        StandardOpenOption.WRITE);
                var _ = guard.lock()) {
            var all = new TreeMap<>(read());
            all.put(reference, image);
            WholeFile.write(file, Json.mapper().writerWithDefaultPrettyPrinter().writeValueAsBytes(all));
        } catch (IOException e) {
            throw new CayException(ErrorKind.INTERNAL, "%s cannot be written".formatted(file), e);
        }
    }

    private Map<String, ServerImage> read() {
        try {
            return Json.mapper().readValue(Files.readAllBytes(file), TYPE);
        } catch (NoSuchFileException e) {
            return Map.of();
        } catch (IOException | JacksonException e) {
            throw new CayException(
                    ErrorKind.INTERNAL,
                    "%s cannot be read; delete it, and images of MCP servers are pulled again".formatted(file),
                    e);
        }
    }
}
