package dev.cay.node.runtime;

import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/// Reads in CRIU's log what kept it from restoring a sandbox, where that is something a user can mend.
final class RestoreFailure {
    private static final Pattern GONE =
            Pattern.compile("Error \\([^)]*\\): .*Can't open file (.+) on restore: No such file or directory");
    private static final Pattern CHANGED =
            Pattern.compile("Error \\([^)]*\\): .*File (.+) has bad (build-ID|checksum)");

    private RestoreFailure() {}

    /// The reason of a failed restore; empty when the log names no such reason.
    static Optional<CayException> of(List<String> lines) {
        for (String line : lines) {
            var gone = GONE.matcher(line);
            if (gone.find()) {
                return Optional.of(failure(gone.group(1), "is not there any more"));
            }
            var other = CHANGED.matcher(line);
            if (other.find()) {
                return Optional.of(failure(other.group(1), "is another program now"));
            }
        }
        return Optional.empty();
    }

    private static CayException failure(String file, String what) {
        String path = file.startsWith("./") ? file.substring(1) : file.startsWith("/") ? file : "/" + file;
        return new CayException(
                ErrorKind.NOT_RESTORED,
                "what ran in the sandbox cannot go on: it has %s open, which %s. Put the file back and try again, or start on the files alone with memory false; all that was saved is kept"
                        .formatted(path, what));
    }
}
