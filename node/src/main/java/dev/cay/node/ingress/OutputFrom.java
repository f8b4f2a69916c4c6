package dev.cay.node.ingress;

import dev.cay.node.process.Channel;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// The header `Cay-Output-From: stdout=N,stderr=M` (or `pty=N`) on Connect: absolute offsets from which a client wants
/// to read output again; 0 means from the oldest byte kept. The answer's header has the actual offsets. Clients that do
/// not send it see no difference.
final class OutputFrom {
    static final String HEADER = "Cay-Output-From";
    private static final Pattern PART = Pattern.compile("(stdout|stderr|pty)=([0-9]{1,18})");

    private OutputFrom() {}

    static @Nullable Map<Channel, Long> parse(@Nullable String header) {
        if (header == null) {
            return null;
        }
        var offsets = new EnumMap<Channel, Long>(Channel.class);
        for (String part : header.split(",")) {
            var match = PART.matcher(part.strip());
            if (!match.matches()) {
                throw new CayException(
                        ErrorKind.INVALID_ARGUMENT, HEADER + " must look like stdout=0,stderr=0 or pty=0");
            }
            offsets.put(Channel.valueOf(match.group(1).toUpperCase(Locale.ROOT)), Long.parseLong(match.group(2)));
        }
        return offsets;
    }

    static String format(Map<Channel, Long> offsets) {
        return new EnumMap<>(offsets)
                .entrySet().stream()
                        .map(entry -> entry.getKey().name().toLowerCase(Locale.ROOT) + "=" + entry.getValue())
                        .collect(Collectors.joining(","));
    }
}
