package dev.cay.bench;

import dev.cay.life.Progress;
import dev.cay.platform.OwnCay;
import dev.cay.platform.RemoteSandbox;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executors;

/// Fifty people who look at the list of a thousand idle sandboxes: what that costs the daemon.
final class Watching implements Measurement {
    private static final int SANDBOXES = 1000;
    private static final int VIEWERS = 50;

    /// Sandboxes whose use a page asks for, those in sight.
    private static final int IN_SIGHT = 39;

    private static final Duration ASKS_EVERY = Duration.ofSeconds(5);
    private static final Duration LIFE = Duration.ofHours(2);
    private static final Duration REST = Duration.ofSeconds(30);
    private static final Duration LOOKED = Duration.ofSeconds(60);
    private static final int MAKERS = 4;

    @Override
    public String name() {
        return "dashboard";
    }

    @Override
    public List<Figure> run(Progress progress) throws Exception {
        try (var cay = OwnCay.start(Crowding.SETTINGS)) {
            var ids = fill(cay, progress);
            progress.detail("without viewers");
            double alone = share(cay.daemon());
            progress.detail(VIEWERS + " viewers");
            double watched;
            try (var _ = new Viewers(cay, ids.subList(0, IN_SIGHT))) {
                watched = share(cay.daemon());
            }
            String method =
                    "CPU time of the daemon over %d s; each viewer follows the list and asks every %d s for the use of %d sandboxes, plain HTTP"
                            .formatted(LOOKED.toSeconds(), ASKS_EVERY.toSeconds(), IN_SIGHT);
            return List.of(
                    Figure.of(
                                    "%d viewers of %,d sandboxes".formatted(VIEWERS, SANDBOXES),
                                    "% of a core",
                                    watched - alone,
                                    method)
                            .atMost(5),
                    Figure.of(
                                    "daemon with %d viewers of %,d sandboxes".formatted(VIEWERS, SANDBOXES),
                                    "% of a core",
                                    watched,
                                    method)
                            .beside("without viewers", alone));
        }
    }

    private static List<String> fill(OwnCay cay, Progress progress) throws Exception {
        var ids = new ConcurrentLinkedQueue<String>();
        try (var makers = Executors.newFixedThreadPool(MAKERS)) {
            var work = new ArrayList<Callable<Void>>();
            for (int i = 0; i < SANDBOXES; i++) {
                work.add(() -> {
                    ids.add(RemoteSandbox.create(cay.url(), cay.key(), LIFE).id());
                    if (ids.size() % 100 == 0) {
                        progress.detail(ids.size() + " sandboxes");
                    }
                    return null;
                });
            }
            for (var made : makers.invokeAll(work)) {
                made.get();
            }
        }
        return List.copyOf(ids);
    }

    /// Percent of a core, once the daemon has come to rest.
    private static double share(ProcessHandle daemon) throws InterruptedException {
        Thread.sleep(REST);
        double before = cpuSeconds(daemon);
        Thread.sleep(LOOKED);
        return (cpuSeconds(daemon) - before) * 100 / LOOKED.toSeconds();
    }

    private static double cpuSeconds(ProcessHandle daemon) {
        return daemon.info().totalCpuDuration().orElseThrow().toNanos() / 1e9;
    }

    /// What the pages of so many browsers ask for.
    private static final class Viewers implements AutoCloseable {
        private final OwnCay cay;
        private final String use;
        private final HttpClient http =
                HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
        private final List<Thread> threads = new ArrayList<>();
        private final List<InputStream> streams = new ArrayList<>();

        Viewers(OwnCay cay, List<String> seen) throws IOException, InterruptedException {
            this.cay = cay;
            this.use = "/sandboxes/metrics?sandbox_ids=" + String.join(",", seen);
            for (int i = 0; i < VIEWERS; i++) {
                var stream =
                        get("/v2/sandboxes/live", BodyHandlers.ofInputStream()).body();
                streams.add(stream);
                threads.add(Thread.startVirtualThread(() -> read(stream)));
                threads.add(Thread.startVirtualThread(this::ask));
                Thread.sleep(ASKS_EVERY.dividedBy(VIEWERS));
            }
        }

        private <T> HttpResponse<T> get(String path, HttpResponse.BodyHandler<T> handler)
                throws IOException, InterruptedException {
            var answer = http.send(
                    HttpRequest.newBuilder(cay.url().resolve(path))
                            .header("X-API-Key", cay.key())
                            .build(),
                    handler);
            if (answer.statusCode() != 200) {
                throw new IOException("%s was answered %d".formatted(path, answer.statusCode()));
            }
            return answer;
        }

        private static void read(InputStream stream) {
            try (stream) {
                stream.transferTo(OutputStream.nullOutputStream());
            } catch (IOException e) {
                // It was closed.
            }
        }

        private void ask() {
            try {
                while (true) {
                    get(use, BodyHandlers.discarding());
                    Thread.sleep(ASKS_EVERY);
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        @Override
        public void close() throws IOException {
            threads.forEach(Thread::interrupt);
            for (var stream : streams) {
                stream.close();
            }
            http.shutdownNow();
        }
    }
}
