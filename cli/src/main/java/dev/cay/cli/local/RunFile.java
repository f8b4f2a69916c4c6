package dev.cay.cli.local;

import dev.cay.life.WholeFile;
import dev.cay.wire.CayException;
import dev.cay.wire.CayVersion;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Optional;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.json.JsonMapper;

/// Facts about a running daemon for other commands, also those of other users: `cay.json` in the run directory, which
/// exists only while it is ready. It contains no secret.
///
/// @param url    plain HTTP base
/// @param domain with the TLS port, as `E2B_DOMAIN` needs it
/// @param bundle certificates for programs that read only one file
public record RunFile(
        long pid,
        String version,
        String instance,
        String url,
        String domain,
        String caCertificate,
        String bundle,
        String stateDir) {
    private static final JsonMapper json = new JsonMapper();

    public static Path in(Path runDir) {
        return runDir.resolve("cay.json");
    }

    public static RunFile of(StartReport report, String instance, Path stateDir) {
        return new RunFile(
                ProcessHandle.current().pid(),
                CayVersion.text(),
                instance,
                report.url().toString(),
                report.domain(),
                report.caCertificate().toString(),
                report.bundle().toString(),
                stateDir.toString());
    }

    /// Empty when no daemon is ready, also when one died and left its file.
    public static Optional<RunFile> find(Path runDir) {
        try {
            var file = json.readValue(Files.readString(in(runDir)), RunFile.class);
            return Optional.of(file).filter(found -> Files.exists(Path.of("/proc", Long.toString(found.pid()))));
        } catch (NoSuchFileException _) {
            return Optional.empty();
        } catch (IOException | JacksonException e) {
            throw new CayException(
                    ErrorKind.UNAVAILABLE,
                    "%s cannot be read or parsed; stop Cay and start it again, which rewrites the file"
                            .formatted(in(runDir)),
                    e);
        }
    }

    /// @param options of the current command: the message tells the user to start the daemon with the same
    public static RunFile require(Path runDir, ConfigOptions options) {
        return find(runDir)
                .orElseThrow(() -> new CayException(
                        ErrorKind.UNAVAILABLE,
                        "Cay is not running; start it with: sudo " + options.command("up --detach")));
    }

    /// Reads it; an invalid file counts as missing, because the daemon will write another one.
    public static Optional<RunFile> findReadable(Path runDir) {
        try {
            return find(runDir);
        } catch (CayException _) {
            return Optional.empty();
        }
    }

    public void write(Path runDir) throws IOException {
        String text = json.writerWithDefaultPrettyPrinter().writeValueAsString(this) + "\n";
        WholeFile.write(
                in(runDir), text.getBytes(StandardCharsets.UTF_8), PosixFilePermissions.fromString("rw-r--r--"));
    }
}
