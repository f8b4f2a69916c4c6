package dev.cay.server.log;

import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpRequest;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// The OTLP receiver of log lines.
///
/// @param endpoint of the receiver, like `http://collector:4318`; null for none
/// @param headers  sent with each request, like credentials
public record OtlpSettings(@Nullable URI endpoint, Map<String, String> headers) {
    public static final OtlpSettings NONE = new OtlpSettings(null, Map.of());

    private static final String SETTING = "logs.otlp.headersFile";
    private static final Pattern HEADER = Pattern.compile("([A-Za-z0-9!#$%&'*+.^_`|~-]+):\\s*(\\S.*?)\\s*");
    private static final EnumSet<PosixFilePermission> OTHERS = EnumSet.of(
            PosixFilePermission.GROUP_READ,
            PosixFilePermission.GROUP_WRITE,
            PosixFilePermission.OTHERS_READ,
            PosixFilePermission.OTHERS_WRITE);

    public OtlpSettings {
        headers = Map.copyOf(headers);
    }

    /// Reads the headers from a file with a line `Name: value` for each.
    ///
    /// @throws CayException if others can read the file, or if it has something else in it
    public static OtlpSettings of(@Nullable String endpoint, @Nullable Path headersFile) {
        if (endpoint == null) {
            return NONE;
        }
        String whole = endpoint.endsWith("/v1/logs") ? endpoint : endpoint.replaceAll("/+$", "") + "/v1/logs";
        return new OtlpSettings(URI.create(whole), headersFile == null ? Map.of() : read(headersFile));
    }

    private static Map<String, String> read(Path file) {
        try {
            var readers = Files.getPosixFilePermissions(file);
            readers.retainAll(OTHERS);
            if (!readers.isEmpty()) {
                throw refused(file, "is open to other users; run: chmod 600 " + file, null);
            }
            var headers = new LinkedHashMap<String, String>();
            for (String line : Files.readAllLines(file)) {
                var header = HEADER.matcher(line);
                if (header.matches()) {
                    headers.put(header.group(1), header.group(2));
                } else if (!line.isBlank()) {
                    throw refused(file, "has a line that is not 'Name: value'", null);
                }
            }
            requireSendable(file, headers);
            return headers;
        } catch (IOException e) {
            throw refused(file, "cannot be read", e);
        }
    }

    /// Checks the headers: some are reserved for the HTTP client, and values have no control characters.
    private static void requireSendable(Path file, Map<String, String> headers) {
        var request = HttpRequest.newBuilder();
        headers.forEach((name, value) -> {
            try {
                request.setHeader(name, value);
            } catch (IllegalArgumentException e) {
                throw refused(file, "has the header '%s', which cannot be sent".formatted(name), null);
            }
        });
    }

    private static CayException refused(Path file, String why, @Nullable IOException cause) {
        return new CayException(ErrorKind.INVALID_ARGUMENT, "%s: the file %s %s".formatted(SETTING, file, why), cause);
    }
}
