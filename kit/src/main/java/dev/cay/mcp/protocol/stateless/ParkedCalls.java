package dev.cay.mcp.protocol.stateless;

import dev.cay.mcp.protocol.Background;
import dev.cay.mcp.protocol.Message;
import dev.cay.mcp.protocol.Refusal;
import dev.cay.mcp.protocol.RpcException;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;

/// Calls that wait for their client to send answers to questions. A random token, valid once, says which call the
/// client means.
final class ParkedCalls implements Call.Parking {
    private static final Duration LONGEST = Duration.ofMinutes(5);
    private static final int MOST_OF_AN_OWNER = 64;
    private static final int WORD_BYTES = 24;

    private final SecureRandom random = new SecureRandom();
    private final ReentrantLock lock = new ReentrantLock();
    private final Map<String, Parked> calls = new LinkedHashMap<>();

    private record Parked(Call call, long since) {}

    /// The owner's oldest one has waited long enough when there are too many.
    @Override
    public String park(Call call) {
        byte[] bytes = new byte[WORD_BYTES];
        random.nextBytes(bytes);
        String word = Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
        Optional<String> oldest = Optional.empty();
        lock.lock();
        try {
            var own = calls.entrySet().stream()
                    .filter(entry -> entry.getValue().call.owner().equals(call.owner()))
                    .map(Map.Entry::getKey)
                    .toList();
            if (own.size() >= MOST_OF_AN_OWNER) {
                oldest = Optional.of(own.getFirst());
            }
            calls.put(word, new Parked(call, System.nanoTime()));
        } finally {
            lock.unlock();
        }
        oldest.ifPresent(this::giveUp);
        return word;
    }

    private void giveUp(String word) {
        Parked parked;
        lock.lock();
        try {
            parked = calls.remove(word);
        } finally {
            lock.unlock();
        }
        if (parked != null) {
            // On another thread, because another call may be in the middle of being parked here.
            Background.run(() -> parked.call.cancel("the client did not answer in time"));
        }
    }

    /// The call itself, if it is the same client's that makes it again.
    Call take(String word, String owner, Message again) {
        lock.lock();
        try {
            var parked = calls.get(word);
            if (parked == null || !parked.call.owner().equals(owner) || !parked.call.isSame(again)) {
                throw new Refusal(
                        400, RpcException.INVALID_PARAMS, "params.requestState is unknown, or was used already");
            }
            calls.remove(word);
            return parked.call;
        } finally {
            lock.unlock();
        }
    }

    /// Cancels calls whose client did not come back. Called periodically.
    void sweep() {
        List<String> late = new ArrayList<>();
        lock.lock();
        try {
            long now = System.nanoTime();
            calls.forEach((word, parked) -> {
                if (now - parked.since > LONGEST.toNanos()) {
                    late.add(word);
                }
            });
        } finally {
            lock.unlock();
        }
        late.forEach(this::giveUp);
    }
}
