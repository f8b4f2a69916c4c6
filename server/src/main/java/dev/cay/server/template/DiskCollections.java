package dev.cay.server.template;

import dev.cay.http.Exchange;
import dev.cay.http.Routes;
import dev.cay.server.access.Access;
import dev.cay.server.request.RequestBody;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.node.NodeDisk;
import dev.cay.wire.node.SandboxKind;
import dev.cay.wire.rest.CollectionInfo;
import dev.cay.wire.rest.CollectionRequested;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Has the node remove from its disk what nothing refers to: once a day, and when the operator asks for it, who alone
/// may, as what is removed was of all teams. One collection at a time.
public final class DiskCollections implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(DiskCollections.class);
    private static final Duration DEFAULT_AGE = Duration.ofDays(30);
    private static final Duration FIRST = Duration.ofMinutes(10);
    private static final Duration EVERY = Duration.ofDays(1);
    private static final Duration RETRY = Duration.ofMinutes(1);
    private static final Duration CLOSE_LIMIT = Duration.ofSeconds(20);

    private final Access access;
    private final Templates templates;
    private final NodeDisk disk;
    private final @Nullable Duration keepUnused;
    private final ScheduledThreadPoolExecutor thread = new ScheduledThreadPoolExecutor(
            1, Thread.ofPlatform().daemon().name("disk-collections").factory());

    /// The latest collection.
    private @Nullable Run last;

    /// @param keepUnused how long things stay that nothing refers to; null if only operators remove them
    public DiskCollections(Access access, Templates templates, NodeDisk disk, @Nullable Duration keepUnused) {
        this.access = access;
        this.templates = templates;
        this.disk = disk;
        this.keepUnused = keepUnused;
    }

    public void addTo(Routes routes) {
        routes.on("POST", "/admin/collections", access.guardAdmin(this::begin));
        routes.on("GET", "/admin/collections/{collectionID}", access.guardAdmin(this::show));
    }

    /// Claims the layers of all records. Call this after templates have been read.
    public void start() {
        thread.execute(this::keep);
        if (keepUnused != null) {
            var _ = thread.scheduleWithFixedDelay(
                    this::collectDaily, FIRST.toMillis(), EVERY.toMillis(), TimeUnit.MILLISECONDS);
        }
    }

    private void keep() {
        try {
            disk.keep(named());
        } catch (RuntimeException e) {
            log.atWarn().setCause(e).log("layers of templates could not be claimed; this is tried again");
            var _ = thread.schedule(this::keep, RETRY.toMillis(), TimeUnit.MILLISECONDS);
        }
    }

    private void collectDaily() {
        try {
            collect(begin(false), Objects.requireNonNull(keepUnused));
        } catch (CayException e) {
            log.atInfo().log("an operator's collection is under way, so that there is none by the clock");
        }
    }

    private void begin(Exchange exchange) {
        var body = RequestBody.of(exchange);
        boolean dryRun = Boolean.TRUE.equals(body.bool("dryRun"));
        var usual = keepUnused == null ? DEFAULT_AGE : keepUnused;
        Integer seconds = body.integer("olderThanSeconds");
        if (seconds != null && seconds < 0) {
            throw RequestBody.invalid("'olderThanSeconds' must not be negative");
        }
        var age = seconds == null ? usual : Duration.ofSeconds(seconds);
        var run = begin(dryRun);
        thread.execute(() -> collect(run, age));
        exchange.about("collection", run.id).sendJson(202, new CollectionRequested(run.id, dryRun, age.toSeconds()));
    }

    private synchronized Run begin(boolean dryRun) {
        if (last != null && !last.isOver()) {
            throw new CayException(ErrorKind.CONFLICT, "a collection is under way; try again when it has ended");
        }
        last = new Run(dryRun);
        return last;
    }

    private void collect(Run run, Duration age) {
        try {
            disk.collect(this::named, age, run.dryRun, run::add);
            run.end(null);
        } catch (RuntimeException e) {
            log.atWarn().setCause(e).log("a collection failed");
            run.end(e instanceof CayException known ? known.userMessage() : String.valueOf(e.getMessage()));
        }
    }

    /// The kinds of sandboxes that can be created. A build without a tag does not count.
    private Collection<SandboxKind> named() {
        return templates.all().stream()
                .flatMap(template -> template.builds().stream()
                        .filter(TemplateBuild::isReady)
                        .filter(build ->
                                build.isSnapshot() || !template.tagsOf(build).isEmpty())
                        .map(build -> new SandboxKind(
                                template.id(), build.origin().layers(), build.resources(), build.snapshot())))
                .toList();
    }

    private void show(Exchange exchange) {
        String offset = exchange.query("offset");
        if (offset != null && !offset.matches("\\d{1,9}")) {
            throw RequestBody.invalid("'offset' must be a whole number");
        }
        exchange.sendJson(
                200, require(exchange.parameter("collectionID")).info(offset == null ? 0 : Integer.parseInt(offset)));
    }

    private synchronized Run require(String id) {
        if (last == null || !last.id.equals(id)) {
            throw new CayException(ErrorKind.NOT_FOUND, "there is no such collection, or there was another one since");
        }
        return last;
    }

    /// Ends a running collection. The next one does the rest.
    @Override
    public void close() {
        thread.shutdownNow();
        try {
            thread.awaitTermination(CLOSE_LIMIT.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /// One collection. Thread-safe.
    private static final class Run {
        private final String id = UUID.randomUUID().toString();
        private final boolean dryRun;
        private final List<NodeDisk.Removed> removed = new ArrayList<>();
        private boolean over;
        private @Nullable String failure;

        private Run(boolean dryRun) {
            this.dryRun = dryRun;
        }

        private synchronized void add(NodeDisk.Removed one) {
            removed.add(one);
        }

        private synchronized void end(@Nullable String why) {
            over = true;
            failure = why;
        }

        private synchronized boolean isOver() {
            return over;
        }

        private synchronized CollectionInfo info(int offset) {
            return new CollectionInfo(
                    failure != null ? "error" : over ? "done" : "running",
                    failure,
                    removed.size(),
                    removed.stream().mapToLong(NodeDisk.Removed::bytes).sum(),
                    removed.stream()
                            .skip(offset)
                            .map(one -> new CollectionInfo.Removed(one.what(), one.name(), one.bytes()))
                            .toList());
        }
    }
}
