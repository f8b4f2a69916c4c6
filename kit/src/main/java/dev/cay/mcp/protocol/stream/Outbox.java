package dev.cay.mcp.protocol.stream;

import dev.cay.mcp.protocol.Conversation;
import dev.cay.mcp.protocol.Message;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Iterator;
import java.util.Optional;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/// Messages for a client in their order, numbered, which a carrier sends: now, later, or again.
///
/// Adding a message never blocks. When a client does not keep up, the oldest messages that it can do without are
/// dropped: notifications first, never the answer.
public final class Outbox implements Conversation.Reply {
    private static final int MOST_BYTES = 512 * 1024;
    private static final int MOST_EVENTS = 512;

    /// @param spare whether the client can do without it
    record Event(long number, byte[] data, boolean spare) {}

    /// An answer, and the same as it is sent.
    record Answer(Message message, byte[] data) {}

    /// The carrier that sends now. A replaced carrier finds another one here.
    ///
    /// @param comesBack whether its client can reconnect for the rest when the stream ends early
    record Carrier(long number, boolean comesBack) {}

    public final long number;
    public final long opened = System.nanoTime();
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition news = lock.newCondition();
    private final ArrayDeque<Event> events = new ArrayDeque<>();
    private long last;
    private long carried;
    private int bytes;
    private @Nullable Message answer;
    private boolean ended;
    private boolean delivered;
    private @Nullable Carrier carrier;
    private long carriers;

    /// Whether the first to carry goes again at once.
    private boolean parting;

    public Outbox(long number) {
        this.number = number;
    }

    @Override
    public void send(Message message) {
        lock.lock();
        try {
            if (!ended) {
                add(message, message.kind() == Message.Kind.NOTIFICATION);
                trim();
                news.signalAll();
            }
        } finally {
            lock.unlock();
        }
    }

    /// Sets the answer. Only the first one counts.
    @Override
    public void end(Message response) {
        tryEnd(response);
    }

    public boolean tryEnd(Message response) {
        lock.lock();
        try {
            if (ended) {
                return false;
            }
            answer = response;
            ended = true;
            add(response, false);
            news.signalAll();
            return true;
        } finally {
            lock.unlock();
        }
    }

    /// Ends it without an answer.
    public void close() {
        lock.lock();
        try {
            ended = true;
            news.signalAll();
        } finally {
            lock.unlock();
        }
    }

    private void add(Message message, boolean spare) {
        var event = new Event(++last, message.bytes(), spare);
        events.add(event);
        bytes += event.data.length;
    }

    private void trim() {
        while (events.size() > 1 && (bytes > MOST_BYTES || events.size() > MOST_EVENTS)) {
            Event dropped = oldestSpare();
            if (dropped == null) {
                dropped = events.getFirst();
            }
            events.remove(dropped);
            bytes -= dropped.data.length;
        }
    }

    private @Nullable Event oldestSpare() {
        for (Iterator<Event> all = events.iterator(); all.hasNext(); ) {
            Event event = all.next();
            if (event.spare && all.hasNext()) {
                return event;
            }
        }
        return null;
    }

    @Override
    public void letGo() {
        lock.lock();
        try {
            parting = carriers == 0;
            if (!ended && carrier != null && carrier.comesBack) {
                carrier = null;
                news.signalAll();
            }
        } finally {
            lock.unlock();
        }
    }

    /// Makes the caller the carrier; the previous one stops.
    Carrier carry(boolean comesBack) {
        lock.lock();
        try {
            var next = new Carrier(++carriers, comesBack);
            carrier = parting && comesBack && !ended ? null : next;
            parting = false;
            news.signalAll();
            return next;
        } finally {
            lock.unlock();
        }
    }

    void leave(Carrier who) {
        lock.lock();
        try {
            if (who.equals(carrier)) {
                carrier = null;
            }
            news.signalAll();
        } finally {
            lock.unlock();
        }
    }

    public boolean isCarried() {
        lock.lock();
        try {
            return carrier != null;
        } finally {
            lock.unlock();
        }
    }

    boolean isCarriedBy(Carrier who) {
        lock.lock();
        try {
            return who.equals(carrier);
        } finally {
            lock.unlock();
        }
    }

    /// The first message after that number, if it comes within the limit and the caller is still the carrier.
    Optional<Event> next(long after, Carrier who, Duration limit) throws InterruptedException {
        long left = limit.toNanos();
        lock.lockInterruptibly();
        try {
            while (true) {
                var event = firstAfter(after);
                if (event.isPresent() || ended || !who.equals(carrier) || left <= 0) {
                    return event;
                }
                left = news.awaitNanos(left);
            }
        } finally {
            lock.unlock();
        }
    }

    /// The same without a timer: the caller has {@link #wakeUp} called when `late` has become true.
    Optional<Event> next(long after, Carrier who, BooleanSupplier late) throws InterruptedException {
        lock.lockInterruptibly();
        try {
            while (true) {
                var event = firstAfter(after);
                if (event.isPresent() || ended || !who.equals(carrier) || late.getAsBoolean()) {
                    return event;
                }
                news.await();
            }
        } finally {
            lock.unlock();
        }
    }

    /// Wakes up all waiting threads.
    void wakeUp() {
        lock.lock();
        try {
            news.signalAll();
        } finally {
            lock.unlock();
        }
    }

    private Optional<Event> firstAfter(long after) {
        for (var event : events) {
            if (event.number > after) {
                return Optional.of(event);
            }
        }
        return Optional.empty();
    }

    /// Waits for the answer alone.
    public Optional<Message> answer(Duration limit) throws InterruptedException {
        long left = limit.toNanos();
        lock.lockInterruptibly();
        try {
            while (!ended && left > 0) {
                left = news.awaitNanos(left);
            }
            return Optional.ofNullable(answer);
        } finally {
            lock.unlock();
        }
    }

    /// The answer if it is all there is to tell.
    Optional<Answer> onlyAnswer() {
        lock.lock();
        try {
            return last == 1 && answer != null
                    ? Optional.of(new Answer(answer, events.getLast().data))
                    : Optional.empty();
        } finally {
            lock.unlock();
        }
    }

    /// Whether anything was put here.
    boolean hasNews() {
        lock.lock();
        try {
            return last > 0;
        } finally {
            lock.unlock();
        }
    }

    public boolean hasEnded() {
        lock.lock();
        try {
            return ended;
        } finally {
            lock.unlock();
        }
    }

    /// Whether no message follows that number.
    boolean isOverAt(long after) {
        lock.lock();
        try {
            return ended && after >= last;
        } finally {
            lock.unlock();
        }
    }

    /// The client has the answer and got no number, so it cannot reconnect for the rest.
    void delivered() {
        lock.lock();
        try {
            carried = last;
            delivered = true;
        } finally {
            lock.unlock();
        }
    }

    /// Whether no client can ask for a message of it any more.
    public boolean isDelivered() {
        lock.lock();
        try {
            return delivered;
        } finally {
            lock.unlock();
        }
    }

    void carried(long upTo) {
        lock.lock();
        try {
            carried = Math.max(carried, upTo);
        } finally {
            lock.unlock();
        }
    }

    public long carried() {
        lock.lock();
        try {
            return carried;
        } finally {
            lock.unlock();
        }
    }

    public int size() {
        lock.lock();
        try {
            return bytes;
        } finally {
            lock.unlock();
        }
    }
}
