package dev.cay.server.build;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import dev.cay.server.request.RequestBody;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// An image archive that a client has sent as it sends files of steps.
///
/// @param filesHash names the archive
/// @param image     which image of the archive; null for the only one
@JsonIgnoreProperties(ignoreUnknown = true)
record ArchiveStart(String filesHash, @Nullable String image) {
    private static final Pattern HASH = Pattern.compile("[0-9a-f]{64}");
    private static final int LONGEST_NAME = 500;

    /// @return null when the client sends none
    static @Nullable ArchiveStart read(RequestBody body) {
        if (!body.says("fromArchive")) {
            return null;
        }
        var archive = body.object("fromArchive");
        String hash = archive.filled("filesHash");
        if (hash == null || !HASH.matcher(hash).matches()) {
            throw RequestBody.invalid("'fromArchive.filesHash' must be 64 digits of 0-9 and a-f in lower case");
        }
        String image = archive.filled("image");
        if (image != null && image.length() > LONGEST_NAME) {
            throw RequestBody.invalid("'fromArchive.image' must be the name of an image");
        }
        return new ArchiveStart(hash, image);
    }
}
