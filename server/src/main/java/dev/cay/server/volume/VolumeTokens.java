package dev.cay.server.volume;

import dev.cay.server.access.SandboxTokens;
import dev.cay.wire.VolumeId;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Optional;
import java.util.regex.Pattern;

/// Tokens that open the files of one volume for a day, and end with the key that they were given to. They are signed,
/// so that the store has nothing of them.
public final class VolumeTokens {
    private static final Duration VALID = Duration.ofDays(1);
    private static final Pattern SHAPE =
            Pattern.compile("cayvol(ro)?_(\\d{1,12})_([a-z]-[0-9a-f-]{1,40})_([0-9a-f]{64})");

    /// What a token says.
    ///
    /// @param holder who was given it, as {@link dev.cay.server.access.Access} names them
    /// @param writes whether it is for more than reading
    record Claim(String holder, boolean writes) {}

    private final SandboxTokens tokens;
    private final InstantSource clock;

    public VolumeTokens(SandboxTokens tokens, InstantSource clock) {
        this.tokens = tokens;
        this.clock = clock;
    }

    String make(VolumeId id, String holder) {
        long until = clock.instant().plus(VALID).getEpochSecond();
        return "cayvol_%d_%s_%s"
                .formatted(until, holder, tokens.volume(id, until, holder).value());
    }

    /// Makes a token for reading only.
    String makeReader(VolumeId id, String holder) {
        long until = clock.instant().plus(VALID).getEpochSecond();
        return "cayvolro_%d_%s_%s"
                .formatted(until, holder, tokens.volumeReader(id, until, holder).value());
    }

    /// What a token for this volume says; nothing if it has expired, or is not valid.
    Optional<Claim> read(VolumeId id, String text) {
        var token = SHAPE.matcher(text);
        if (!token.matches()) {
            return Optional.empty();
        }
        boolean writes = token.group(1) == null;
        long until = Long.parseLong(token.group(2));
        String holder = token.group(3);
        var expected = writes ? tokens.volume(id, until, holder) : tokens.volumeReader(id, until, holder);
        boolean valid =
                expected.matches(token.group(4)) && until >= clock.instant().getEpochSecond();
        return valid ? Optional.of(new Claim(holder, writes)) : Optional.empty();
    }
}
