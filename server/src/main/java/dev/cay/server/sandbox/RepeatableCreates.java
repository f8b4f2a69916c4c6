package dev.cay.server.sandbox;

import dev.cay.server.access.Caller;
import dev.cay.server.quota.Quotas;
import dev.cay.server.store.JsonColumn;
import dev.cay.server.store.Store;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.TeamId;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.HexFormat;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.regex.Pattern;

/// Creates with an `Idempotency-Key`: however often and from how many threads the same key comes, there is one sandbox.
///
/// The key is stored with the sandbox's record, so it lives exactly as long. A failed create leaves no key behind.
public final class RepeatableCreates {
    private static final Pattern KEY = Pattern.compile("[\\x21-\\x7e]{1,255}");
    private static final Duration LIMIT = Duration.ofMinutes(2);

    private record Slot(TeamId teamId, String key) {}

    private record Pending(String hash, CompletableFuture<SandboxRecord> result) {}

    private final Store store;
    private final SandboxStarter starter;
    private final Quotas quotas;
    private final ConcurrentMap<Slot, Pending> pending = new ConcurrentHashMap<>();

    public RepeatableCreates(Store store, SandboxStarter starter, Quotas quotas) {
        this.quotas = quotas;
        this.store = store;
        this.starter = starter;
    }

    SandboxRecord create(Caller caller, NewSandbox wanted, String key) {
        if (!KEY.matcher(key).matches()) {
            throw new CayException(
                    ErrorKind.INVALID_ARGUMENT,
                    "the header 'Idempotency-Key' must have 1 to 255 visible ASCII characters");
        }
        var slot = new Slot(caller.team().id(), key);
        var mine = new Pending(hash(wanted), new CompletableFuture<>());
        var other = pending.putIfAbsent(slot, mine);
        if (other != null) {
            checkSame(other.hash(), mine.hash());
            return await(other.result());
        }
        try {
            var sandbox = findOrStart(caller, wanted, new SandboxStore.Request(key, mine.hash()));
            mine.result().complete(sandbox);
            return sandbox;
        } catch (RuntimeException e) {
            mine.result().completeExceptionally(e);
            throw e;
        } finally {
            pending.remove(slot, mine);
        }
    }

    private SandboxRecord findOrStart(Caller caller, NewSandbox wanted, SandboxStore.Request request) {
        var earlier = store.read(
                handle -> SandboxStore.findByKey(handle, caller.team().id(), request.key()));
        if (earlier.isEmpty()) {
            // A repetition gets what there is, so it counts as no create.
            quotas.create(caller, 1);
            return starter.start(caller, wanted, request);
        }
        checkSame(earlier.get().hash(), request.hash());
        if (earlier.get().sandbox().state() == SandboxState.STARTING) {
            throw new CayException(
                    ErrorKind.UNAVAILABLE,
                    "the first create with this Idempotency-Key failed and is not taken back yet; try again");
        }
        return earlier.get().sandbox();
    }

    private static void checkSame(String one, String other) {
        if (!one.equals(other)) {
            throw new CayException(
                    ErrorKind.CONFLICT,
                    "this Idempotency-Key was used with another request body; use a new key for a new sandbox");
        }
    }

    private static SandboxRecord await(CompletableFuture<SandboxRecord> result) {
        try {
            return result.get(LIMIT.toMillis(), TimeUnit.MILLISECONDS);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof CayException cause) {
                throw cause;
            }
            throw new CayException(ErrorKind.INTERNAL, "the first create with this Idempotency-Key failed", e);
        } catch (TimeoutException e) {
            throw new CayException(
                    ErrorKind.UNAVAILABLE, "the first create with this Idempotency-Key is not done yet", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CayException(ErrorKind.CANCELED, "interrupted while waiting for the first create", e);
        }
    }

    /// A hash that is equal for bodies with the same meaning, however they were written. Hashed, because variables may
    /// be secrets.
    private static String hash(NewSandbox wanted) {
        try {
            byte[] json = JsonColumn.write(wanted).getBytes(StandardCharsets.UTF_8);
            return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(json));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }
}
