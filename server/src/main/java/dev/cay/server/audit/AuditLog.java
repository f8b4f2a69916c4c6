package dev.cay.server.audit;

import dev.cay.http.Exchange;
import dev.cay.http.Routes;
import dev.cay.life.Undo;
import dev.cay.metrics.Meters;
import dev.cay.server.access.Access;
import dev.cay.server.access.Audit;
import dev.cay.server.event.LifecycleEvent;
import dev.cay.server.store.Store;
import dev.cay.wire.TeamId;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The audit log. Creates the classes of this package and connects them. Requests are reported through {@link Audit},
/// other actions through {@link #happened}.
public final class AuditLog implements Audit, AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(AuditLog.class);
    private static final String START = "daemon.start";
    private static final String STOP = "daemon.stop";
    private static final int PORTION = 1000;
    private static final int MOST_SENDERS = 10;

    /// Settings of the audit log.
    ///
    /// @param keep   how long entries are kept; null for ever
    /// @param reads  whether requests that change nothing are recorded too
    /// @param export destinations of copies
    public record Settings(@Nullable Duration keep, boolean reads, AuditExports.Settings export) {
        public static final Settings USUAL = new Settings(Duration.ofDays(90), false, AuditExports.Settings.NONE);
    }

    private final Settings settings;
    private final Store store;
    private final InstantSource clock;
    private final Undo opened = new Undo();
    private final AuditExports exports;
    private final AuditQueue queue;
    private final Refusals refusals = new Refusals();

    /// Set while a thread serves a request: the request's entry covers the events that it causes.
    private final ThreadLocal<Boolean> serving = ThreadLocal.withInitial(() -> false);

    private final ScheduledThreadPoolExecutor thread = new ScheduledThreadPoolExecutor(
            1, Thread.ofPlatform().daemon().name("audit").factory());

    public AuditLog(Settings settings, Store store, InstantSource clock, Meters meters) {
        this.settings = settings;
        this.store = store;
        this.clock = clock;
        exports = opened.add(new AuditExports(settings.export(), store, meters));
        queue = opened.add(new AuditQueue(store, clock, meters, exports::wake));
    }

    public void addTo(Routes routes, Access access) {
        new AuditRoutes(access, store, clock, queue::add).addTo(routes);
    }

    /// Starts the writer, and records the start of the daemon.
    public void start() {
        var before = store.read(handle -> AuditStore.newest(handle, List.of(START, STOP)));
        var facts = new TreeMap<>(Map.of("result", "ok"));
        before.ifPresent(last -> facts.put("previous", last.equals(STOP) ? "stopped" : "killed"));
        queue.start();
        exports.start();
        queue.add(AuditEntry.ofDaemon(clock.instant(), START, facts));
        every(Duration.ofMinutes(1), this::tellOmitted);
        every(Duration.ofHours(1), this::forgetOld);
        every(Duration.ofHours(1), this::logHead);
        attempt(this::logHead);
    }

    @Override
    public Act begin(Exchange exchange) {
        serving.set(true);
        return new RequestAct(exchange, this::ended);
    }

    @Override
    public void byItself(String action, TeamId team, Map<String, String> facts) {
        var all = new TreeMap<>(facts);
        all.put("result", "ok");
        queue.add(AuditEntry.of(clock.instant(), action, "daemon", team.value(), null, all));
    }

    @Override
    public void signIn(Exchange exchange, SignInAct act) {
        String result = act.ok() ? "ok" : "refused";
        var facts = new TreeMap<>(Map.of(
                "result",
                result,
                "way",
                act.way(),
                "request",
                exchange.method() + " " + exchange.route(),
                "address",
                exchange.peer(),
                "credential",
                "none"));
        var inside = exchange.inside();
        if (inside != null) {
            facts.put("fromSandbox", inside.value());
        }
        String actor = act.person() == null ? "unknown" : "person:" + act.person();
        ended(
                true,
                result,
                RequestAct.network(exchange.peer()),
                new RequestAct.Draft(act.action(), actor, null, null, facts));
    }

    private void ended(boolean changes, String result, String sender, RequestAct.Draft draft) {
        serving.remove();
        boolean good = result.equals("ok");
        if (!changes && !settings.reads() && !result.equals("refused")) {
            return;
        }
        var now = clock.instant();
        if (good || refusals.take(sender, now)) {
            queue.add(AuditEntry.of(now, draft.action(), draft.actor(), draft.team(), draft.sandbox(), draft.facts()));
        }
    }

    /// A sandbox ended, was paused or resumed. Noted unless a request did it.
    public void happened(LifecycleEvent event) {
        String reason = String.valueOf(event.data().getOrDefault("kill_reason", ""));
        String action = switch (event.type()) {
            case KILLED -> List.of("request", "admin").contains(reason) ? "" : "sandbox.end";
            case PAUSED -> serving.get() ? "" : "sandbox.pause";
            case RESUMED -> serving.get() ? "" : "sandbox.resume";
            case CREATED, UPDATED, CHECKPOINTED -> "";
        };
        if (action.isEmpty()) {
            return;
        }
        var facts = new TreeMap<>(Map.of("result", "ok"));
        if (!reason.isEmpty()) {
            facts.put("reason", reason);
        }
        queue.add(AuditEntry.of(event.at(), action, "daemon", event.teamId().value(), event.sandboxId(), facts));
    }

    /// Records how many refused requests were left out, with the senders of most of them.
    void tellOmitted() {
        var omitted = refusals.takeOmitted();
        if (omitted.isEmpty()) {
            return;
        }
        var facts = new TreeMap<>(Map.of("result", "refused"));
        long all = omitted.values().stream().mapToLong(Long::longValue).sum();
        facts.put("requests", Long.toString(all));
        facts.put("senders", Integer.toString(omitted.size()));
        omitted.entrySet().stream()
                .sorted(Map.Entry.<String, Long>comparingByValue().reversed())
                .limit(MOST_SENDERS)
                .forEach(sender ->
                        facts.merge("most", "%s=%d".formatted(sender.getKey(), sender.getValue()), "%s %s"::formatted));
        queue.add(AuditEntry.ofDaemon(clock.instant(), "audit.omit", facts));
    }

    /// Deletes entries after their retention time.
    void forgetOld() {
        if (settings.keep() == null) {
            return;
        }
        Instant now = clock.instant();
        Instant before = now.minus(settings.keep());
        while (store.write(handle -> AuditStore.removeOlder(handle, before, PORTION, now)) == PORTION) {
            log.atDebug().log("removed a portion of old entries of the audit log");
        }
    }

    /// Writes the head of the chain to the daemon's log, at the start, every hour and at the end, so that an operator
    /// who keeps that log elsewhere can detect a replaced chain.
    private void logHead() {
        var head = store.read(AuditStore::head);
        log.atInfo()
                .addKeyValue("sequence", head.sequence())
                .addKeyValue("hash", head.hash())
                .log("head of the audit log");
    }

    @Override
    public void close() {
        thread.shutdownNow();
        attempt(this::tellOmitted);
        queue.add(AuditEntry.ofDaemon(clock.instant(), STOP, Map.of("result", "ok")));
        opened.close();
        attempt(this::logHead);
    }

    private void every(Duration period, Runnable chore) {
        var _ = thread.scheduleWithFixedDelay(
                () -> attempt(chore), period.toMillis(), period.toMillis(), TimeUnit.MILLISECONDS);
    }

    private static void attempt(Runnable chore) {
        try {
            chore.run();
        } catch (RuntimeException e) {
            log.atWarn().setCause(e).log("a periodic task of the audit log failed; the next round tries again");
        }
    }
}
