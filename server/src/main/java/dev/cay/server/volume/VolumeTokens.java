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
    private static final Pattern SHAPE = Pattern.compile("cayvol(ro)?_(\\d{1,12})_([0-9a-f]{64})");

    /// The permission of a token.
    enum Right {
        NONE,
        READ,
        WRITE
    }

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

    /// Makes a token for reading only.
    String makeReader(VolumeId id) {
        long until = clock.instant().plus(VALID).getEpochSecond();
        return "cayvolro_%d_%s".formatted(until, tokens.volumeReader(id, until).value());
    }

    /// The permission that a token gives for this volume; none if it has expired, or is not valid.
    Right right(VolumeId id, @Nullable String text) {
        var token = SHAPE.matcher(text == null ? "" : text);
        if (!token.matches()) {
            return Right.NONE;
        }
        boolean reader = token.group(1) != null;
        long until = Long.parseLong(token.group(2));
        var expected = reader ? tokens.volumeReader(id, until) : tokens.volume(id, until);
        if (!expected.matches(token.group(3)) || until < clock.instant().getEpochSecond()) {
            return Right.NONE;
        }
        return reader ? Right.READ : Right.WRITE;
    }
}
