package dev.cay.server.volume;

import dev.cay.server.access.SandboxTokens;
import dev.cay.wire.VolumeId;
import java.time.Duration;
import java.time.InstantSource;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// Tokens that open the files of one volume for a day. They are signed, so that the store has nothing of them.
public final class VolumeTokens {
    private static final Duration VALID = Duration.ofDays(1);
    private static final Pattern SHAPE = Pattern.compile("cayvol_(\\d{1,12})_([0-9a-f]{64})");

    private final SandboxTokens tokens;
    private final InstantSource clock;

    public VolumeTokens(SandboxTokens tokens, InstantSource clock) {
        this.tokens = tokens;
        this.clock = clock;
    }

    String make(VolumeId id) {
        long until = clock.instant().plus(VALID).getEpochSecond();
        return "cayvol_%d_%s".formatted(until, tokens.volume(id, until).value());
    }

    /// Whether the text is a token for this volume that has not expired.
    boolean opens(VolumeId id, @Nullable String text) {
        var token = SHAPE.matcher(text == null ? "" : text);
        if (!token.matches()) {
            return false;
        }
        long until = Long.parseLong(token.group(1));
        return tokens.volume(id, until).matches(token.group(2))
                && until >= clock.instant().getEpochSecond();
    }
}
