package dev.cay.node.build;

import dev.cay.dockerfile.Selection;
import dev.cay.node.image.ChangedFiles;
import dev.cay.node.image.LayerStore;
import dev.cay.web.WebFiles;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// Files that ADD names by URLs.
final class RemoteFiles {
    private static final int MODE = 0600;
    private static final String CONTENT = "content";
    private static final String ALGORITHM = "sha256:";

    private final WebFiles web;
    private final Places places;

    /// Makes directories that exist until the build ends.
    interface Places {
        /// @param content what tells it from others of the build
        Path make(String kind, String content, LayerStore.Builder builder);
    }

    RemoteFiles(WebFiles web, Places places) {
        this.web = web;
        this.places = places;
    }

    /// @param checksum that the content must have, like `sha256:HEX`; null for none
    PickedFiles fetch(String text, @Nullable String checksum) throws IOException {
        var url = parse(text);
        String name = name(url);
        var file = places.make("url", text, rootfs -> {
                    ChangedFiles.requireSpace(rootfs);
                    web.fetch(url, rootfs.resolve(CONTENT));
                })
                .resolve(CONTENT);
        var entry = new Selection.Entry(
                name,
                file,
                Selection.Kind.FILE,
                MODE,
                Files.size(file),
                Files.getLastModifiedTime(file).to(TimeUnit.SECONDS),
                "");
        String found = checksum == null ? "" : ALGORITHM + entry.contentHash();
        if (checksum != null && !checksum.equalsIgnoreCase(found)) {
            throw new CayException(
                    ErrorKind.INVALID_ARGUMENT,
                    "the file of %s has %s, and --checksum says %s".formatted(url, found, checksum));
        }
        return new PickedFiles(name, false, name, List.of(entry), false, true);
    }

    private static URI parse(String text) {
        try {
            var url = new URI(text);
            if (url.getHost() != null && url.getUserInfo() == null) {
                return url;
            }
        } catch (URISyntaxException _) {
            // Said below.
        }
        // Without the URL, which may have a password.
        throw new CayException(
                ErrorKind.INVALID_ARGUMENT,
                "ADD needs a URL like https://example.org/file, without a user or password and with %20 for spaces");
    }

    /// The last part of the path, as Docker names a file in a directory.
    private static String name(URI url) {
        String path = url.getPath() == null ? "" : url.getPath();
        String name = path.substring(path.lastIndexOf('/') + 1);
        if (name.isEmpty()
                || name.equals(".")
                || name.equals("..")
                || name.chars().anyMatch(Character::isISOControl)) {
            throw new CayException(
                    ErrorKind.INVALID_ARGUMENT, "%s does not end with the name of a file".formatted(url));
        }
        return name;
    }
}
