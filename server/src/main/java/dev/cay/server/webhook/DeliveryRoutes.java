package dev.cay.server.webhook;

import dev.cay.http.Exchange;
import dev.cay.http.Json;
import dev.cay.http.Routes;
import dev.cay.life.FairTurns;
import dev.cay.server.access.Access;
import dev.cay.server.access.Team;
import dev.cay.server.event.LifecycleEvent;
import dev.cay.server.paging.ListPage;
import dev.cay.server.request.RequestBody;
import dev.cay.server.request.Times;
import dev.cay.server.store.Store;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.rest.WebhookDelivery;
import dev.cay.wire.rest.WebhookStats;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.jdbi.v3.core.Handle;
import org.jspecify.annotations.Nullable;

/// Routes that list deliveries with their attempts, and that send events again.
final class DeliveryRoutes {
    private static final String ONE = "/events/webhooks/{webhookID}";
    private static final Duration FINE = Duration.ofHours(1);
    private static final Duration COARSE = Duration.ofDays(1);

    /// The longest range of statistics; attempts are kept as long. Long ranges have coarse buckets.
    private static final Duration LONG = Duration.ofDays(7);

    private static final Duration LONGEST = Duration.ofDays(366);

    /// Of one page, and of one attempt beside its body.
    private static final long MOST_CHARACTERS = 8 << 20;

    private static final int LONGEST_REST = 4096;

    private static final Set<String> STATUSES = Set.of("success", "failed");
    private static final Set<String> TYPES = Arrays.stream(LifecycleEvent.Type.values())
            .map(LifecycleEvent.Type::text)
            .collect(Collectors.toUnmodifiableSet());

    private final Access access;
    private final WebhookBook book;
    private final Store store;
    private final InstantSource clock;
    private final Runnable opened;

    /// Lists and statistics look at many rows, and must leave readers of the database for other requests.
    private final FairTurns turns = new FairTurns("The deliveries were not read", 1, 100, Duration.ofSeconds(30));

    /// @param opened is called when there may be something to send
    DeliveryRoutes(Access access, WebhookBook book, Store store, InstantSource clock, Runnable opened) {
        this.access = access;
        this.book = book;
        this.store = store;
        this.clock = clock;
        this.opened = opened;
    }

    void addTo(Routes routes) {
        routes.on("GET", ONE + "/deliveries", access.guard(this::list));
        routes.on("GET", ONE + "/stats", access.guard(this::stats));
        routes.on("POST", ONE + "/redeliveries", access.guard(this::redeliver));
    }

    private void list(Team team, Exchange exchange) {
        var webhook = book.require(team, exchange.parameter("webhookID"));
        int limit = ListPage.number(exchange, "limit", 1, 100, 25);
        var query = new AttemptStore.Query(
                webhook.id(),
                cursor(exchange),
                ListPage.bool(exchange, "orderAsc"),
                time(exchange, "start", Instant.EPOCH),
                time(exchange, "end", Instant.ofEpochMilli(Long.MAX_VALUE)),
                choice(exchange, "deliveryStatus", STATUSES),
                choice(exchange, "eventType", TYPES),
                limit + 1);
        WebhookDelivery.Page page;
        try (var _ = turns.take(team.id())) {
            page = store.read(handle -> page(handle, webhook, query));
        }
        exchange.sendJson(200, page);
    }

    /// A page ends early if it gets too large: each attempt shows the whole body, which a team makes as large as it
    /// likes. It also ends where many had to be looked at, and may then have no event at all and yet a cursor.
    private static WebhookDelivery.Page page(Handle handle, Webhook webhook, AttemptStore.Query query) {
        var stretch = AttemptStore.messages(handle, query);
        var groups = new ArrayList<WebhookDelivery.Group>();
        Long next = stretch.end();
        long characters = 0;
        for (var found : stretch.found()) {
            var message = MessageStore.whole(handle, found);
            var attempts = AttemptStore.of(handle, webhook, message);
            characters += (long) attempts.size() * (message.body().length() + LONGEST_REST);
            if (groups.size() == query.limit() - 1 || (characters > MOST_CHARACTERS && !groups.isEmpty())) {
                next = stretch.found().get(groups.size() - 1).sequence();
                break;
            }
            groups.add(group(webhook, message, attempts));
        }
        return new WebhookDelivery.Page(groups, next == null ? null : String.valueOf(next));
    }

    private static @Nullable Long cursor(Exchange exchange) {
        String text = exchange.query("cursor");
        if (text == null || text.isEmpty()) {
            return null;
        }
        if (!text.matches("\\d{1,18}")) {
            throw RequestBody.invalid("'cursor' must be 'nextCursor' of the answer before");
        }
        return Long.valueOf(text);
    }

    private static Instant time(Exchange exchange, String name, Instant absent) {
        String text = exchange.query(name);
        if (text == null || text.isEmpty()) {
            return absent;
        }
        try {
            return Times.parse(text);
        } catch (DateTimeException _) {
            throw RequestBody.invalid("'%s' must be a time like 2026-09-21T10:00:00Z".formatted(name));
        }
    }

    /// Several values, separated by commas or as repeated parameters: clients do either.
    private static List<String> choice(Exchange exchange, String name, Set<String> known) {
        var chosen = exchange.queryAll(name).stream()
                .flatMap(value -> Arrays.stream(value.split(",")))
                .map(String::strip)
                .filter(value -> !value.isEmpty())
                .distinct()
                .toList();
        if (!known.containsAll(chosen)) {
            throw RequestBody.invalid(
                    "'%s' may have %s".formatted(name, known.stream().sorted().collect(Collectors.joining(", "))));
        }
        return chosen;
    }

    private static WebhookDelivery.Group group(Webhook webhook, Message message, List<Attempt> attempts) {
        return new WebhookDelivery.Group(
                message.eventId(),
                message.eventType(),
                message.sandboxId(),
                message.state().text(),
                attempts.stream()
                        .map(attempt -> info(webhook, message, attempt))
                        .toList());
    }

    static WebhookDelivery info(Webhook webhook, Message message, Attempt attempt) {
        var error = attempt.error();
        var answered = attempt.responseHeaders();
        return new WebhookDelivery(
                attempt.id(),
                webhook.teamId(),
                webhook.id(),
                message.eventId(),
                message.sandboxId(),
                message.eventType(),
                attempt.succeeded() ? "success" : "failed",
                attempt.duration().toMillis(),
                message.body(),
                Json.text(attempt.headers()),
                attempt.url(),
                attempt.responseBody(),
                answered == null ? null : Json.text(answered),
                attempt.status(),
                error == null ? null : error.text(),
                attempt.message(),
                attempt.startedAt());
    }

    private void stats(Team team, Exchange exchange) {
        var webhook = book.require(team, exchange.parameter("webhookID"));
        Instant now = clock.instant();
        // The end is exclusive, and what happens in this moment counts.
        Instant end = time(exchange, "end", now.plusMillis(1));
        Instant start = time(exchange, "start", now.minus(Duration.ofDays(1)));
        var length = Duration.between(start, end);
        if (length.isNegative() || length.compareTo(LONGEST) > 0) {
            throw RequestBody.invalid(
                    "'start' must be before 'end', and at most %d days before it".formatted(LONGEST.toDays()));
        }
        var width = length.compareTo(LONG) > 0 ? COARSE : FINE;
        List<AttemptStore.Bucket> found;
        try (var _ = turns.take(team.id())) {
            found = store.read(handle -> AttemptStore.buckets(handle, webhook.id(), start, end, width));
        }
        exchange.sendJson(200, stats(found, start, end, width));
    }

    /// Statistics with an entry for each bucket, also for empty ones.
    private static WebhookStats stats(List<AttemptStore.Bucket> found, Instant start, Instant end, Duration width) {
        Map<Instant, AttemptStore.Bucket> known = new HashMap<>();
        found.forEach(bucket -> known.put(bucket.start(), bucket));
        var buckets = new ArrayList<WebhookStats.Bucket>();
        long first = Math.floorDiv(start.toEpochMilli(), width.toMillis()) * width.toMillis();
        for (long at = first; at < end.toEpochMilli(); at += width.toMillis()) {
            var time = Instant.ofEpochMilli(at);
            var bucket = known.get(time);
            buckets.add(
                    bucket == null
                            ? new WebhookStats.Bucket(time, 0, 0, WebhookStats.Spread.NONE)
                            : new WebhookStats.Bucket(time, bucket.total(), bucket.failed(), spread(bucket)));
        }
        long total = found.stream().mapToLong(AttemptStore.Bucket::total).sum();
        long failed = found.stream().mapToLong(AttemptStore.Bucket::failed).sum();
        return new WebhookStats(buckets, total, failed, spread(found, total));
    }

    private static WebhookStats.Spread spread(AttemptStore.Bucket bucket) {
        return new WebhookStats.Spread(bucket.minimum(), bucket.average(), bucket.maximum());
    }

    private static WebhookStats.Spread spread(List<AttemptStore.Bucket> buckets, long total) {
        if (total == 0) {
            return WebhookStats.Spread.NONE;
        }
        double sum = buckets.stream()
                .mapToDouble(bucket -> bucket.average() * bucket.total())
                .sum();
        return new WebhookStats.Spread(
                buckets.stream().mapToDouble(AttemptStore.Bucket::minimum).min().orElse(0),
                sum / total,
                buckets.stream().mapToDouble(AttemptStore.Bucket::maximum).max().orElse(0));
    }

    /// @param events how many are sent again
    /// @param left   how many more were given up; they can be sent when these have arrived
    record Redelivery(int events, int left) {}

    private void redeliver(Team team, Exchange exchange) {
        var webhook = book.require(team, exchange.parameter("webhookID"));
        var body = RequestBody.of(exchange);
        String event = body.filled("eventId");
        boolean failed = Boolean.TRUE.equals(body.bool("failed"));
        if ((event == null) != failed) {
            throw RequestBody.invalid("send either 'eventId' with the id of an event, or 'failed': true");
        }
        if (!webhook.enabled()) {
            throw new CayException(
                    ErrorKind.CONFLICT, "the webhook is switched off, and nothing is sent to it; enable it first");
        }
        Instant now = clock.instant();
        var done = event == null ? reopenFailed(webhook, now) : new Redelivery(reopen(webhook, event, now), 0);
        opened.run();
        exchange.sendJson(202, done);
    }

    private int reopen(Webhook webhook, String event, Instant now) {
        int count = store.write(handle -> MessageStore.reopen(handle, webhook.id(), event, now));
        if (count == 0) {
            throw new CayException(
                    ErrorKind.NOT_FOUND,
                    "no such event was sent to this webhook within 7 days; see its deliveries for what was");
        }
        return count;
    }

    /// Counted first: the store may do the work twice.
    private Redelivery reopenFailed(Webhook webhook, Instant now) {
        int failed = store.read(handle -> MessageStore.count(handle, webhook.id(), Message.State.FAILED));
        int waiting = store.read(handle -> MessageStore.count(handle, webhook.id(), Message.State.OPEN));
        int events = Math.clamp(Message.MOST_OPEN - waiting, 0, failed);
        if (failed > 0 && events == 0) {
            throw new CayException(
                    ErrorKind.CONFLICT,
                    "%d events wait to be sent to this webhook, and there may be no more; try again when some have arrived"
                            .formatted(waiting));
        }
        store.write(handle -> {
            int open = MessageStore.count(handle, webhook.id(), Message.State.OPEN);
            int most = Math.clamp(Message.MOST_OPEN - open, 0, events);
            return MessageStore.reopenFailed(handle, webhook.id(), now, most);
        });
        return new Redelivery(events, failed - events);
    }
}
