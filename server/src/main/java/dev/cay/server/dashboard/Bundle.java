package dev.cay.server.dashboard;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.zip.GZIPOutputStream;

/// The files of the dashboard, in memory, each as it is and compressed.
///
/// They were built in a sandbox from packages of strangers, so links among them are not followed, and there is a limit
/// to their size.
final class Bundle {
    private static final long MOST_BYTES = 8L << 20;
    private static final int MOST_FILES = 200;

    private static final Map<String, String> TYPES = Map.of(
            "html", "text/html; charset=utf-8",
            "js", "text/javascript; charset=utf-8",
            "css", "text/css; charset=utf-8",
            "svg", "image/svg+xml",
            "woff2", "font/woff2");

    /// @param isImmutable whether the content never changes under this name
    record Asset(String type, byte[] plain, byte[] gzipped, boolean isImmutable) {}

    private final Map<String, Asset> byPath;

    private Bundle(Map<String, Asset> byPath) {
        this.byPath = Map.copyOf(byPath);
    }

    static Bundle read(Path directory) throws IOException {
        var found = new HashMap<String, Asset>();
        try (var files = Files.walk(directory)) {
            long left = MOST_BYTES;
            for (var file : (Iterable<Path>)
                    files.filter(one -> Files.isRegularFile(one, LinkOption.NOFOLLOW_LINKS))::iterator) {
                left -= Files.size(file);
                if (left < 0 || found.size() == MOST_FILES) {
                    throw new IOException("the dashboard in %s is too large".formatted(directory));
                }
                String path = directory.relativize(file).toString();
                found.put(path, asset(path, Files.readAllBytes(file)));
            }
        }
        if (!found.containsKey("index.html")) {
            throw new IOException("the dashboard in %s has no index.html".formatted(directory));
        }
        return new Bundle(found);
    }

    private static Asset asset(String path, byte[] content) throws IOException {
        String type = TYPES.getOrDefault(path.substring(path.lastIndexOf('.') + 1), "application/octet-stream");
        var zipped = new ByteArrayOutputStream();
        try (var zip = new GZIPOutputStream(zipped)) {
            zip.write(content);
        }
        return new Asset(type, content, zipped.toByteArray(), path.startsWith("assets/"));
    }

    /// @param path below the dashboard's own, without a slash before it
    Optional<Asset> find(String path) {
        return Optional.ofNullable(byPath.get(path));
    }
}
