package dev.cay.node.image;

import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.node.NodeTemplate;
import dev.cay.wire.node.NodeTemplate.State;
import dev.cay.wire.node.NodeTemplates;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Builds templates in the background, one after the other. A template whose tree exists, so that only a moment of work
/// is left, never waits for one that takes minutes. Thread-safe.
///
/// A failed build is remembered with its reason, and repeated when the template is requested again.
public final class TemplateBuilds implements NodeTemplates, AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(TemplateBuilds.class);
    private static final Duration CLOSE_LIMIT = Duration.ofMinutes(2);
    private static final Duration SPEAK_EVERY = Duration.ofSeconds(20);

    private final LayerStore layers;
    private final Map<String, HouseTemplate> templates = new LinkedHashMap<>();
    private final Map<String, NodeTemplate> states = new LinkedHashMap<>();
    private final BlockingQueue<HouseTemplate> slow = new LinkedBlockingQueue<>();
    private final BlockingQueue<HouseTemplate> quick = new LinkedBlockingQueue<>();
    private final List<Consumer<NodeTemplate>> listeners = new CopyOnWriteArrayList<>();
    private final List<Thread> workers = new ArrayList<>();
    private boolean closed;

    public TemplateBuilds(LayerStore layers, List<HouseTemplate> templates) {
        this.layers = layers;
        for (var template : templates) {
            this.templates.put(template.name(), template);
            var absent = new NodeTemplate(
                    template.name(), template.memoryMB(), template.start().orElse(null), State.ABSENT, List.of(), "");
            states.put(template.name(), absent);
        }
    }

    @Override
    public synchronized List<NodeTemplate> list() {
        return new ArrayList<>(states.values());
    }

    @Override
    public synchronized NodeTemplate prepare(String name) {
        var template = templates.get(name);
        var now = states.get(name);
        if (template == null || now == null) {
            throw new CayException(
                    ErrorKind.NOT_FOUND,
                    "no template %s comes with Cay; there are %s".formatted(name, String.join(", ", states.keySet())));
        }
        if (now.state() == State.READY || closed) {
            return now;
        }
        boolean built = template.isBuilt();
        if (now.state() == State.BUILDING) {
            // Another process may have made its tree during the wait.
            if (built && slow.remove(template)) {
                quick.add(template);
            }
            return now;
        }
        var queue = built ? quick : slow;
        String size = built ? "" : ", about %,d MB of disk".formatted(template.missingMB());
        var begun = now.in(State.BUILDING, (queue.isEmpty() ? "it begins" : "it waits") + size);
        states.put(name, begun);
        queue.add(template);
        startWorkers();
        return begun;
    }

    private void startWorkers() {
        if (workers.isEmpty()) {
            for (var queue : List.of(slow, quick)) {
                workers.add(Thread.ofPlatform().daemon().name("template-builds").start(() -> work(queue)));
            }
        }
    }

    /// Templates whose tree exists, so that they are ready soon.
    public List<String> built() {
        return templates.values().stream()
                .filter(HouseTemplate::isBuilt)
                .map(HouseTemplate::name)
                .toList();
    }

    @Override
    public boolean holds(List<String> keys) {
        return keys.stream().allMatch(layers::claim);
    }

    @Override
    public void onReady(Consumer<NodeTemplate> listener) {
        listeners.add(listener);
    }

    private void work(BlockingQueue<HouseTemplate> queue) {
        try {
            while (true) {
                make(queue.take());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void make(HouseTemplate template) {
        boolean fresh = !template.isBuilt();
        long began = System.nanoTime();
        if (fresh) {
            log.atInfo()
                    .addKeyValue("template", template.name())
                    .addKeyValue("megabytes", template.missingMB())
                    .log("building a template in the background");
        }
        try (var _ = layers.use()) {
            var keys = template.build(new Speaker(template.name()));
            var ready = note(template.name(), state -> state.ready(keys));
            log.atInfo()
                    .addKeyValue("template", template.name())
                    .addKeyValue(
                            "seconds",
                            Duration.ofNanos(System.nanoTime() - began).toSeconds())
                    .log("template ready");
            listeners.forEach(listener -> listener.accept(ready));
        } catch (RuntimeException e) {
            if (Thread.currentThread().isInterrupted()) {
                note(template.name(), state -> state.in(State.ABSENT, ""));
                log.atInfo().addKeyValue("template", template.name()).log("a template build was interrupted");
                return;
            }
            note(template.name(), state -> state.in(State.FAILED, reason(e)));
            log.atWarn()
                    .setCause(e)
                    .addKeyValue("template", template.name())
                    .log("a template could not be built; the next request for it tries again");
        }
    }

    private static String reason(RuntimeException e) {
        return e instanceof CayException known ? known.userMessage() : String.valueOf(e.getMessage());
    }

    private synchronized NodeTemplate note(String name, UnaryOperator<NodeTemplate> change) {
        var next = change.apply(Objects.requireNonNull(states.get(name)));
        states.put(name, next);
        return next;
    }

    /// Ends a running build, and removes what it has made so far.
    @Override
    public void close() {
        List<Thread> running; // never waited for while we hold the lock they need
        synchronized (this) {
            closed = true;
            running = List.copyOf(workers);
        }
        running.forEach(Thread::interrupt);
        try {
            for (var worker : running) {
                worker.join(CLOSE_LIMIT);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /// Keeps the state up to date, and logs the progress from time to time.
    private final class Speaker implements BuildProgress {
        private final String template;
        private long spoke = System.nanoTime();

        private Speaker(String template) {
            this.template = template;
        }

        @Override
        public void at(String step, String detail, double fraction) {
            String news =
                    "%.0f %%, %s %s".formatted(fraction * 100, step, detail).strip();
            note(template, state -> state.in(State.BUILDING, news));
            if (System.nanoTime() - spoke > SPEAK_EVERY.toNanos()) {
                spoke = System.nanoTime();
                log.atInfo()
                        .addKeyValue("template", template)
                        .addKeyValue("news", news)
                        .log("building a template");
            }
        }
    }
}
