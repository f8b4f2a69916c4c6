package dev.cay.server.log;

import dev.cay.http.Json;
import dev.cay.metrics.Meters;
import dev.cay.metrics.Tally;
import dev.cay.server.event.LifecycleEvent;
import dev.cay.server.sandbox.SandboxDirectory;
import dev.cay.wire.BuildId;
import dev.cay.wire.SandboxId;
import dev.cay.wire.TeamId;
import dev.cay.wire.TemplateId;
import dev.cay.wire.node.BuildLine;
import dev.cay.wire.node.LogLine;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Sends log lines to an OTLP receiver, as JSON over HTTP. Nothing waits for the receiver: lines that find the queue
/// full, or that the receiver does not take after some attempts, are dropped and counted.
public final class LogShipper implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(LogShipper.class);
    private static final int WAITING = 8192;
    private static final int GROUP = 512;
    private static final Duration GATHER = Duration.ofMillis(500);
    private static final Duration CONNECT_LIMIT = Duration.ofSeconds(5);
    private static final Duration LAST = Duration.ofSeconds(3);

    /// HTTP statuses after which OTLP allows a retry.
    private static final Set<Integer> LATER = Set.of(429, 502, 503, 504);

    /// Time limits and retries.
    ///
    /// @param answer   time for one answer
    /// @param pause    time before the second attempt; each later pause is twice as long
    /// @param attempts most attempts for one group of lines
    record Patience(Duration answer, Duration pause, int attempts) {
        static final Patience USUAL = new Patience(Duration.ofSeconds(10), Duration.ofSeconds(1), 6);
    }

    private final OtlpSettings settings;
    private final SandboxDirectory directory;
    private final Patience patience;
    private final Tally sent;
    private final Tally dropped;
    private final BlockingQueue<OtlpLine> waiting = new ArrayBlockingQueue<>(WAITING);
    private final Thread thread = Thread.ofVirtual().name("otlp").unstarted(this::loop);
    private volatile boolean closed;
    private boolean failing;

    public LogShipper(OtlpSettings settings, SandboxDirectory directory, Meters meters) {
        this(settings, directory, meters, Patience.USUAL);
    }

    LogShipper(OtlpSettings settings, SandboxDirectory directory, Meters meters, Patience patience) {
        this.settings = settings;
        this.directory = directory;
        this.patience = patience;
        this.sent = meters.tally("cay_otlp_lines_total", "Lines of logs that an OTLP receiver took");
        this.dropped = meters.tally("cay_otlp_lines_dropped_total", "Lines of logs that no OTLP receiver took");
    }

    public void start() {
        if (settings.endpoint() != null) {
            thread.start();
        }
    }

    /// A line of a sandbox. Never blocks.
    public void add(SandboxId id, LogLine line) {
        if (settings.endpoint() == null) {
            return;
        }
        var source = source(id.value());
        directory.find(id).ifPresent(record -> {
            source.put("cay.team.id", record.teamId().value());
            source.put("cay.template.id", record.templateId().value());
        });
        offer(new OtlpLine(source, line));
    }

    /// Adds a lifecycle event, which is a line of its sandbox's log, too. Never blocks.
    public void add(LifecycleEvent event) {
        if (settings.endpoint() == null) {
            return;
        }
        var source = source(event.sandboxId());
        source.put("cay.team.id", event.teamId().value());
        source.put("cay.template.id", event.templateId().value());
        offer(new OtlpLine(source, EventLine.of(event)));
    }

    /// Adds a line of a build's log. Never blocks.
    ///
    /// A build prints as much as it likes, so its lines get no more than half of the places.
    public void add(TeamId team, TemplateId template, BuildId build, BuildLine line) {
        if (settings.endpoint() == null) {
            return;
        }
        if (waiting.size() >= WAITING / 2) {
            dropped.count();
            return;
        }
        var source = Map.of(
                "service.name",
                "cay",
                "cay.build.id",
                build.value(),
                "cay.team.id",
                team.value(),
                "cay.template.id",
                template.value());
        var fields = line.step() == null ? Map.<String, String>of() : Map.of("step", line.step());
        offer(new OtlpLine(source, new LogLine(line.at(), line.level(), "build", line.message(), fields)));
    }

    private static Map<String, String> source(String sandbox) {
        return new TreeMap<>(Map.of("service.name", "cay", "cay.sandbox.id", sandbox));
    }

    private void offer(OtlpLine line) {
        if (!waiting.offer(line)) {
            dropped.count();
        }
    }

    /// Sends what waits, as far as that works at once.
    @Override
    public void close() {
        closed = true;
        try {
            if (thread.isAlive() && !thread.join(LAST)) {
                thread.interrupt();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void loop() {
        var endpoint = settings.endpoint();
        try (var client = HttpClient.newBuilder()
                .connectTimeout(CONNECT_LIMIT)
                .version(HttpClient.Version.HTTP_1_1)
                .build()) {
            while (endpoint != null && (!closed || !waiting.isEmpty())) {
                var group = gather();
                if (!group.isEmpty()) {
                    shipOrDrop(client, endpoint, group);
                }
            }
            client.shutdownNow();
        } catch (InterruptedException e) {
            log.atDebug().log("log lines were not sent before the server stopped");
        }
    }

    private List<OtlpLine> gather() throws InterruptedException {
        var group = new ArrayList<OtlpLine>();
        var first = waiting.poll(GATHER.toMillis(), TimeUnit.MILLISECONDS);
        if (first != null) {
            group.add(first);
            if (!closed) {
                Thread.sleep(GATHER.dividedBy(5));
            }
            waiting.drainTo(group, GROUP - 1);
        }
        return group;
    }

    /// Lines that cannot be sent do not hold up others for ever.
    private void shipOrDrop(HttpClient client, URI endpoint, List<OtlpLine> group) throws InterruptedException {
        try {
            ship(client, endpoint, group);
        } catch (RuntimeException e) {
            log.atError().setCause(e).log("lines of logs could not be sent");
            drop(group, "they cannot be sent");
        }
    }

    private void ship(HttpClient client, URI endpoint, List<OtlpLine> group) throws InterruptedException {
        var pause = patience.pause();
        for (int attempt = 1; ; attempt++) {
            String problem = attempt(client, endpoint, group);
            if (problem == null) {
                sent.add(group.size());
                failing = false;
                return;
            }
            boolean again = problem.startsWith("+") && attempt < patience.attempts() && !closed;
            if (!again) {
                drop(group, problem);
                return;
            }
            Thread.sleep(pause);
            pause = pause.multipliedBy(2);
        }
    }

    /// @return null if the receiver took the lines; else the reason, which begins with `+` if a retry may succeed
    private @Nullable String attempt(HttpClient client, URI endpoint, List<OtlpLine> group)
            throws InterruptedException {
        var request = HttpRequest.newBuilder(endpoint)
                .timeout(patience.answer())
                .POST(HttpRequest.BodyPublishers.ofByteArray(Json.write(OtlpLine.request(group))));
        settings.headers().forEach(request::setHeader);
        request.setHeader("Content-Type", "application/json");
        // The client's own limit ends with the head of the answer, and a receiver may hang behind it.
        var answer = client.sendAsync(request.build(), BodyHandlers.discarding());
        try {
            int status = answer.get(patience.answer().toMillis(), TimeUnit.MILLISECONDS)
                    .statusCode();
            return status / 100 == 2 ? null : (LATER.contains(status) ? "+" : "") + "it answered " + status;
        } catch (ExecutionException e) {
            return "+it cannot be reached: "
                    + (e.getCause() == null ? e : e.getCause()).getClass().getSimpleName();
        } catch (TimeoutException e) {
            answer.cancel(true);
            return "+it did not answer within " + patience.answer();
        }
    }

    private void drop(List<OtlpLine> group, String problem) {
        dropped.add(group.size());
        if (!failing) {
            log.atWarn()
                    .addKeyValue("lines", group.size())
                    .addKeyValue("problem", problem.replace("+", ""))
                    .log("the OTLP receiver does not take lines of logs; they are dropped");
        }
        failing = true;
    }
}
