package dev.cay.server.webhook;

import dev.cay.life.Steps;
import dev.cay.metrics.Meters;
import dev.cay.metrics.Tally;
import dev.cay.server.access.Audit;
import dev.cay.server.store.Store;
import dev.cay.wire.TeamId;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Sends messages to receivers: one thread finds the messages that are due, and each attempt has a thread of its
/// own.
///
/// Only the database says what is due, so the next daemon continues after a crash. A message whose attempt was not
/// recorded is sent again: it arrives at least once. Of the messages of a sandbox for a webhook, at most one is
/// being sent.
final class Deliverer implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(Deliverer.class);

    /// How long the thread sleeps with nothing to send; it is woken for an event, and this limit only covers a lost
    /// wake-up.
    private static final Duration IDLE = Duration.ofSeconds(30);

    private static final Duration LAST_ATTEMPTS = Duration.ofSeconds(5);
    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(30);
    private static final Duration AFTER_FAILURE = Duration.ofSeconds(5);

    /// Looks for messages that take longer than this are made less often, so that they take a tenth of the time.
    private static final Duration CHEAP = Duration.ofMillis(2);

    private static final int COST_SHARE = 10;

    /// Looks from one count of waiting messages to the next.
    private static final int COUNTED_EVERY = 5;

    private final Store store;
    private final WebhookCall call;
    private final AttemptRecords records;
    private final Audit audit;
    private final InstantSource clock;
    private final Duration lookAgain;
    private final Tally attempts;
    private final AttemptLimits limits = new AttemptLimits();
    private final ExecutorService senders = Executors.newVirtualThreadPerTaskExecutor();
    /// When the messages of teams are looked for again whose last look took long. Of the thread alone.
    private final Map<TeamId, Long> notBefore = new HashMap<>();

    private long nextCount = System.nanoTime();
    private boolean anyFull;
    private volatile @Nullable Thread thread;
    private volatile boolean closed;

    /// @param lookAgain time between two looks while messages wait for their time
    Deliverer(Store store, WebhookCall call, Audit audit, InstantSource clock, Duration lookAgain, Meters meters) {
        this.store = store;
        this.call = call;
        this.records = new AttemptRecords(store);
        this.audit = audit;
        this.clock = clock;
        this.lookAgain = lookAgain;
        this.attempts = meters.tally("cay_webhook_attempts_total", "Requests to receivers of webhooks", "outcome");
    }

    void start() {
        thread = Thread.ofPlatform().daemon().name("webhooks").start(this::loop);
    }

    /// Wakes the thread, because there may be a message to send.
    void wake() {
        LockSupport.unpark(thread);
    }

    private void loop() {
        while (!closed) {
            LockSupport.parkNanos(this, look().toNanos());
        }
    }

    /// Starts the attempts that are due.
    ///
    /// @return how long to wait before the next query
    private Duration look() {
        try {
            markFull();
            var waiting = new ArrayList<>(store.read(handle -> WebhookStore.withDueMessages(handle, clock.instant())));
            // Otherwise the first ones would always have the free places, and a team that has many the next one too.
            Collections.shuffle(waiting);
            waiting.sort(Comparator.comparingInt(webhook -> limits.of(webhook.teamId())));
            var pause = lookAtAll(waiting);
            boolean rest = !pause.isPositive() && !anyFull && !store.read(MessageStore::anyOpen);
            return rest ? IDLE : shorter(pause, lookAgain);
        } catch (RuntimeException e) {
            log.atWarn().setCause(e).log("cannot read which webhook messages are due; trying again");
            return AFTER_FAILURE;
        }
    }

    /// Looks for the messages of each webhook, and leaves out teams whose last look took long: the more messages a
    /// team has waiting, the longer that takes, and others must not wait for it.
    ///
    /// @return how long it is until the first of these teams is looked at again; zero if none was left out
    private Duration lookAtAll(List<Webhook> waiting) {
        var costs = new HashMap<TeamId, Long>();
        long began = System.nanoTime();
        long pause = 0;
        for (var webhook : waiting) {
            long left = notBefore.getOrDefault(webhook.teamId(), began) - began;
            if (left > 0) {
                pause = pause == 0 ? left : Math.min(pause, left);
                continue;
            }
            long from = System.nanoTime();
            beginDue(webhook);
            costs.merge(webhook.teamId(), System.nanoTime() - from, Long::sum);
        }
        notBefore.values().removeIf(time -> time - began <= 0);
        long now = System.nanoTime();
        costs.forEach((team, cost) -> {
            if (cost > CHEAP.toNanos()) {
                notBefore.put(team, now + COST_SHARE * cost);
            }
        });
        return Duration.ofNanos(pause);
    }

    private static Duration shorter(Duration pause, Duration usual) {
        return pause.isPositive() && pause.compareTo(usual) < 0 ? pause : usual;
    }

    /// Notes which webhooks have so many messages waiting that further ones are given up at once. Counting takes
    /// long, so it is done here and seldom, and the number that waits may be a little higher.
    private void markFull() {
        long began = System.nanoTime();
        if (began - nextCount < 0) {
            return;
        }
        var full = store.read(handle -> MessageStore.full(handle, Message.MOST_OPEN));
        var before = store.read(WebhookStore::full);
        if (!full.equals(before)) {
            store.write(handle -> WebhookStore.markFull(handle, full, before));
            full.stream()
                    .filter(id -> !before.contains(id))
                    .forEach(
                            id -> log.atWarn()
                                    .addKeyValue("webhook", id)
                                    .addKeyValue("waiting", Message.MOST_OPEN)
                                    .log(
                                            "so many events wait for a webhook that further ones are given up until some have arrived"));
        }
        anyFull = !full.isEmpty();
        long now = System.nanoTime();
        nextCount = now + Math.max(COUNTED_EVERY * lookAgain.toNanos(), COST_SHARE * (now - began));
    }

    private void beginDue(Webhook webhook) {
        int free = limits.freeFor(webhook);
        if (free <= 0 || closed) {
            return;
        }
        int most = free + limits.of(webhook);
        List<Message> due = store.read(handle -> MessageStore.due(handle, webhook.id(), clock.instant(), most));
        for (var message : due) {
            if (limits.freeFor(webhook) > 0 && limits.add(webhook, message)) {
                senders.execute(() -> send(webhook, message));
            }
        }
    }

    private void send(Webhook webhook, Message found) {
        try {
            // The attempt before this one may have been recorded after the messages that are due were read.
            var message = store.read(handle -> MessageStore.ifDue(handle, found, clock.instant()));
            if (message.isPresent()) {
                attempt(webhook, message.get());
            }
        } catch (RuntimeException e) {
            log.atError().setCause(e).addKeyValue("webhook", webhook.id()).log("could not send to a webhook");
            sleep(AFTER_FAILURE);
        } finally {
            limits.remove(webhook, found);
            wake();
        }
    }

    private void attempt(Webhook webhook, Message message) {
        Steps.reach("webhook-due");
        var attempt = call.send(webhook, message.eventId(), message.body());
        Steps.reach("webhook-answered");
        attempts.count(attempt.succeeded() ? "success" : "failed");
        // A failure during shutdown is not the receiver's; the next daemon sends the message.
        if (attempt.succeeded() || !closed) {
            note(webhook, message, attempt);
        }
    }

    /// Records the result, and retries until it is recorded: otherwise a receiver would get the same message again
    /// and again while the database is away or full.
    private void note(Webhook webhook, Message message, Attempt attempt) {
        var pause = Duration.ofMillis(100);
        while (true) {
            try {
                tell(webhook, records.write(webhook, message, attempt, clock.instant()));
                Steps.reach("webhook-noted");
                return;
            } catch (RuntimeException e) {
                log.atWarn()
                        .setCause(e)
                        .addKeyValue("webhook", webhook.id())
                        .log("cannot record the result of a webhook attempt; trying again");
                if (!sleep(pause)) {
                    return;
                }
                pause = pause.compareTo(LONGEST_PAUSE) < 0 ? pause.multipliedBy(2) : LONGEST_PAUSE;
            }
        }
    }

    private void tell(Webhook webhook, AttemptRecords.Result result) {
        if (result == AttemptRecords.Result.DISABLED) {
            audit.byItself("webhook.disable", webhook.teamId(), Map.of("webhook", webhook.id()));
            log.atWarn()
                    .addKeyValue("webhook", webhook.id())
                    .addKeyValue("team", webhook.teamId())
                    .addKeyValue("name", webhook.name())
                    .log(
                            "a webhook was switched off, as nothing arrived there for a day; enable it when it is repaired");
        }
    }

    /// @return false if there is no time for that
    private boolean sleep(Duration time) {
        try {
            if (!closed) {
                Thread.sleep(time);
            }
            return !closed;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    /// Attempts that get their answer soon are written down; the others are sent again by the next daemon.
    @Override
    public void close() {
        closed = true;
        wake();
        senders.shutdown();
        try {
            Thread running = thread;
            if (running != null) {
                running.join(LAST_ATTEMPTS);
            }
            if (!senders.awaitTermination(LAST_ATTEMPTS.toMillis(), TimeUnit.MILLISECONDS)) {
                senders.shutdownNow();
            }
        } catch (InterruptedException e) {
            senders.shutdownNow();
            Thread.currentThread().interrupt();
        }
    }
}
