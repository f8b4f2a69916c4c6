package dev.cay.runner;

import java.io.ByteArrayOutputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.LinkedBlockingQueue;
import org.jspecify.annotations.Nullable;

/// Keeps the state of one Java context: reads requests, runs cells one after the other, tells what came of them.
public final class JavaRunner {
    private static final Duration LAST_WORDS = Duration.ofSeconds(2);
    private static final long COMPILER_STACK = 64 << 20;
    private static final int LONGEST_MESSAGE = 1 << 20;
    private static final int BUFFER = 64 << 10;

    private final Descriptors descriptors;
    private final Events events;
    private final Cells cells = new Cells();
    private final LinkedBlockingQueue<Request> requests = new LinkedBlockingQueue<>();
    private final Object turn = new Object();
    private boolean running;
    private int count;

    private JavaRunner(Descriptors descriptors, Events events) {
        this.descriptors = descriptors;
        this.events = events;
    }

    /// Starts the runner; it ends when the node closes its end.
    public static void main(String[] arguments) throws ReflectiveOperationException {
        var descriptors = Descriptors.take();
        var events = new Events(Descriptors.EVENTS);
        System.setIn(new NoInput());
        Printed.install(events);
        events.start();
        descriptors.start(events);
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            descriptors.drain();
            events.flush(LAST_WORDS);
        }));
        var runner = new JavaRunner(descriptors, events);
        runner.listenForInterrupts();
        Thread.ofPlatform().name("cay cells").stackSize(COMPILER_STACK).start(runner::work);
        runner.read();
        Runtime.getRuntime().halt(0);
    }

    /// By reflection only because the compiler warns of `sun.misc` in a way that cannot be silenced.
    private void listenForInterrupts() throws ReflectiveOperationException {
        var signal = Class.forName("sun.misc.Signal");
        var handler = Class.forName("sun.misc.SignalHandler");
        var own = Proxy.newProxyInstance(
                handler.getClassLoader(), new Class<?>[] {handler}, (self, method, given) -> switch (method.getName()) {
                    case "handle" -> {
                        interrupt();
                        yield null;
                    }
                    case "equals" -> false;
                    case "hashCode" -> 0;
                    default -> "interrupt";
                });
        signal.getMethod("handle", signal, handler)
                .invoke(null, signal.getConstructor(String.class).newInstance("INT"), own);
    }

    private void interrupt() {
        synchronized (turn) {
            if (running) {
                cells.interrupt();
            }
        }
    }

    private void read() {
        var line = new ByteArrayOutputStream();
        try (var arena = Arena.ofConfined()) {
            var buffer = arena.allocate(BUFFER);
            int found;
            while ((found = Libc.read(Descriptors.REQUESTS, buffer)) > 0) {
                var bytes = buffer.asSlice(0, found).toArray(ValueLayout.JAVA_BYTE);
                int from = 0;
                for (int i = 0; i < found; i++) {
                    if (bytes[i] == '\n') {
                        line.write(bytes, from, i - from);
                        from = i + 1;
                        accept(Request.parse(line.toString(StandardCharsets.UTF_8)));
                        line.reset();
                    }
                }
                line.write(bytes, from, found - from);
            }
        }
    }

    private void accept(@Nullable Request request) {
        if (request != null) {
            requests.add(request);
        }
    }

    private void work() {
        while (true) {
            try {
                switch (requests.take()) {
                    case Request.Setup setup -> setUp(setup);
                    case Request.Run run -> run(run);
                }
            } catch (InterruptedException e) {
                // Nobody but a cell would interrupt this thread; there is always a next request.
            }
        }
    }

    private void setUp(Request.Setup setup) {
        setup.unset().forEach(System::clearProperty);
        setup.properties().forEach(System::setProperty);
        Seeds.sow(setup.seed());
        var directory = setup.directory();
        if (directory != null && !Libc.changeDirectory(directory)) {
            String reason = "cannot enter the directory " + directory;
            events.send("refused", Map.of("n", setup.number(), "reason", reason));
            return;
        }
        if (directory != null) {
            System.setProperty("user.dir", directory);
        }
        events.send("ready", Map.of("n", setup.number()));
    }

    private void run(Request.Run run) {
        count++;
        events.send("begin", Map.of("id", run.id(), "count", count));
        descriptors.renew();
        Printed.renew(events);
        var before = new HashMap<String, @Nullable String>();
        run.properties().forEach((name, value) -> before.put(name, System.setProperty(name, value)));
        try {
            synchronized (turn) {
                cells.prepare();
                running = true;
            }
            report(cells.evaluate(run.code(), count, System.err::println));
        } catch (Throwable e) {
            // Whatever happens in a cell, the next one must find a runner.
            tell(Trouble.internal(e));
        } finally {
            synchronized (turn) {
                running = false;
            }
            before.forEach(JavaRunner::putBack);
            descriptors.drain();
            events.send("end", Map.of("id", run.id()));
        }
    }

    private static void putBack(String name, @Nullable String value) {
        if (value == null) {
            System.clearProperty(name);
        } else {
            System.setProperty(name, value);
        }
    }

    private void report(Cells.Outcome outcome) {
        descriptors.drain();
        var value = outcome.value();
        if (value != null && !events.send("result", Map.of("main", true, "data", Map.of("text/plain", value)))) {
            System.err.println("the value is too long to be shown: %d characters".formatted(value.length()));
        }
        if (outcome.trouble() != null) {
            tell(outcome.trouble());
        }
    }

    private void tell(Trouble trouble) {
        events.send(
                "error",
                Map.of(
                        "name", trouble.name(),
                        "value", shortened(trouble.value()),
                        "traceback", shortened(trouble.traceback())));
    }

    private static String shortened(String text) {
        return text.length() <= LONGEST_MESSAGE ? text : text.substring(0, LONGEST_MESSAGE) + "...";
    }
}
