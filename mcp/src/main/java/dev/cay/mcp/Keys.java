package dev.cay.mcp;

import dev.cay.sdk.Cay;
import dev.cay.sdk.SandboxException;
import dev.cay.sdk.Settings;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/// Validates keys at the platform, and caches the result for a while.
///
/// Keys are stored as digests, so the time of a lookup reveals nothing about known keys.
final class Keys {
    private static final Duration ACCEPTED = Duration.ofMinutes(5);
    private static final Duration REFUSED = Duration.ofSeconds(10);
    private static final Duration LONGEST_WAIT = Duration.ofSeconds(10);
    private static final int MOST = 4096;

    private final Settings platform;
    private final ReentrantLock lock = new ReentrantLock();
    private final LinkedHashMap<String, Verdict> known = new LinkedHashMap<>(16, 0.75f, true);

    private record Verdict(boolean accepted, long until) {}

    Keys(Settings platform) {
        this.platform = platform.withRequestTimeout(LONGEST_WAIT);
    }

    boolean accepts(String key) {
        if (!key.matches("[\\x21-\\x7e]{1,512}")) {
            return false;
        }
        String digest = digest(key);
        var verdict = find(digest);
        if (verdict == null || System.nanoTime() - verdict.until > 0) {
            boolean accepted = ask(key);
            Duration time = accepted ? ACCEPTED : REFUSED;
            verdict = new Verdict(accepted, System.nanoTime() + time.toNanos());
            remember(digest, verdict);
        }
        return verdict.accepted;
    }

    private @Nullable Verdict find(String digest) {
        lock.lock();
        try {
            return known.get(digest);
        } finally {
            lock.unlock();
        }
    }

    private void remember(String digest, Verdict verdict) {
        lock.lock();
        try {
            known.put(digest, verdict);
            if (known.size() > MOST) {
                known.remove(known.firstEntry().getKey());
            }
        } finally {
            lock.unlock();
        }
    }

    private boolean ask(String key) {
        try (var cay = Cay.with(platform.withApiKey(key))) {
            cay.list();
            return true;
        } catch (SandboxException e) {
            if (e.kind() == SandboxException.Kind.UNAUTHORIZED) {
                return false;
            }
            throw new CayException(ErrorKind.UNAVAILABLE, "the sandboxes cannot be reached: " + e.getMessage(), e);
        }
    }

    private static String digest(String key) {
        try {
            var digest = MessageDigest.getInstance("SHA-256").digest(key.getBytes(StandardCharsets.UTF_8));
            return HexFormat.of().formatHex(digest);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }
}
