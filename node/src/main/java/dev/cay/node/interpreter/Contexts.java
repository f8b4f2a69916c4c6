package dev.cay.node.interpreter;

import dev.cay.node.lines.LineProcess;
import dev.cay.node.linux.HostThreads;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/// The contexts of one sandbox. Thread-safe.
///
/// Like the table of processes it never outlives its link to the guest: a new one on the same directory adopts the
/// running runners.
final class Contexts implements Context.Home, AutoCloseable {
    static final String USUAL_CWD = "/home/user";

    private static final Logger log = LoggerFactory.getLogger(Contexts.class);
    private static final int MOST = 64;
    private static final Duration FILE_LIMIT = Duration.ofSeconds(20);
    private static final SecureRandom RANDOM = new SecureRandom();

    private final Runners runners;
    private final HostThreads work;
    private final Path file;
    private final Languages languages;
    private final boolean spares;
    private final Map<String, Context> all = new LinkedHashMap<>();
    private final Map<Language, Context> usual = new TreeMap<>();
    private final Map<Language, Runner> spare = new TreeMap<>();
    private final AtomicLong numbers = new AtomicLong(RANDOM.nextInt(1 << 30));
    private volatile Surroundings surroundings;
    private volatile boolean closed;

    /// The number of requested writes of the notes, and the number of those that are in the file.
    private long changes;

    private long written;

    /// Set by {@link #leave}: from then on runners' end-of-stream events are expected and are not recorded.
    private boolean lettingGo;

    /// @param work      where files are written
    /// @param directory of the sandbox's processes
    /// @param spares    whether there is memory for a runner that waits to be needed
    Contexts(Runners runners, HostThreads work, Path directory, Surroundings surroundings, boolean spares) {
        this.runners = runners;
        this.work = work;
        this.file = directory.resolve("contexts.json");
        this.languages = runners.languages();
        this.surroundings = surroundings;
        this.spares = spares && languages.eager().contains(Language.PYTHON);
    }

    /// Reads the notes. Call this before the guest's processes are listed.
    Recall recall() throws IOException {
        return new Recall(work.call(FILE_LIMIT, () -> ContextNotes.read(file)));
    }

    /// The runners in the notes, whose ends are reported from now on.
    final class Recall {
        private final ContextNotes notes;
        private final Map<Integer, LineProcess.Claim> claims;

        private Recall(ContextNotes notes) {
            this.notes = notes;
            this.claims = Stream.concat(notes.contexts().stream(), notes.spares().stream())
                    .map(ContextNotes.Entry::pid)
                    .filter(pid -> pid > 0)
                    .distinct()
                    .collect(Collectors.toMap(pid -> pid, pid -> runners.claim(pid)));
        }

        /// Adopts them, or makes the contexts of a new sandbox.
        void adopt() throws IOException {
            boolean copied = !notes.sandbox().equals(surroundings.sandbox());
            surroundings =
                    new Surroundings(surroundings.sandbox(), surroundings.variables(), Set.copyOf(notes.variables()));
            var running = runners.running();
            // Runners that were being started when the daemon ended are in no notes.
            running.stream().filter(pid -> !claims.containsKey(pid)).limit(MOST).forEach(runners::end);
            for (var entry : notes.contexts()) {
                Language.named(entry.language()).ifPresent(language -> {
                    var context = new Context(Contexts.this, entry.id(), language, entry.cwd(), entry.usual());
                    attach(entry, running).ifPresent(runner -> context.adopt(runner, copied));
                    put(context, entry.usual());
                });
            }
            for (var entry : notes.spares()) {
                Language.named(entry.language())
                        .ifPresent(language -> attach(entry, running).ifPresent(runner -> spare.put(language, runner)));
            }
            for (var language : languages.eager()) {
                if (!usual.containsKey(language)) {
                    put(fresh(language, USUAL_CWD, true), true);
                }
            }
            if (copied) {
                save();
            }
        }

        private Optional<Runner> attach(ContextNotes.Entry entry, Set<Integer> running) {
            var claim = claims.get(entry.pid());
            if (claim == null || !running.contains(entry.pid())) {
                return Optional.empty();
            }
            try {
                return Optional.of(runners.attach(claim));
            } catch (IOException e) {
                log.atWarn().setCause(e).addKeyValue("pid", entry.pid()).log("a runner could not be adopted");
                return Optional.empty();
            }
        }
    }

    @Override
    public Surroundings surroundings() {
        return surroundings;
    }

    /// Sets the variables of a spare that gets an owner; runners get them before their next cell.
    void become(Map<String, String> variables) {
        surroundings = surroundings.then(variables);
        save();
    }

    /// Starts what a new sandbox has; takes seconds, and nothing when it was saved with it.
    void warm() {
        List<Context> first;
        synchronized (this) {
            first = List.copyOf(usual.values());
        }
        first.forEach(Context::startUnlessBusy);
        if (spares) {
            refill(Language.PYTHON);
        }
    }

    synchronized List<Context> list() {
        return List.copyOf(all.values());
    }

    synchronized Context require(String id) {
        var context = all.get(id);
        if (context == null) {
            throw new CayException(ErrorKind.NOT_FOUND, "Context %s not found".formatted(id));
        }
        return context;
    }

    /// The default context of a language, made at first use.
    Context usual(String name) {
        var language = language(name);
        Context made;
        synchronized (this) {
            var there = usual.get(language);
            if (there != null) {
                return there;
            }
            requireRoom();
            made = fresh(language, USUAL_CWD, false);
            put(made, true);
        }
        return started(made);
    }

    Context create(String name, String cwd) {
        var language = language(name);
        Context made;
        @Nullable Runner waiting;
        synchronized (this) {
            requireRoom();
            made = fresh(language, cwd, false);
            waiting = spare.remove(language);
            put(made, false);
        }
        if (waiting != null && !waiting.isOver()) {
            made.take(waiting);
            Thread.ofVirtual().start(() -> refill(language));
        }
        return started(made);
    }

    private Context started(Context made) {
        try {
            made.start();
            save();
            return made;
        } catch (CayException e) {
            forget(made);
            throw e;
        }
    }

    void remove(String id) {
        var context = require(id);
        forget(context);
        save();
    }

    private void forget(Context context) {
        synchronized (this) {
            all.remove(context.id());
            usual.remove(context.language(), context);
        }
        context.remove();
    }

    private void refill(Language language) {
        synchronized (this) {
            if (closed || spare.containsKey(language)) {
                return;
            }
        }
        var started = new Context(this, UUID.randomUUID().toString(), language, USUAL_CWD, true);
        try {
            started.start();
        } catch (CayException e) {
            // A sandbox that ends or is paused meanwhile needs none.
            log.atLevel(closed ? Level.DEBUG : Level.INFO)
                    .addKeyValue("reason", e.getMessage())
                    .log("no runner could be prestarted");
            return;
        }
        var runner = started.runner();
        synchronized (this) {
            if (runner != null && !closed && spare.putIfAbsent(language, runner) == null) {
                runner = null;
            }
        }
        if (runner != null) {
            runner.kill();
        }
        save();
    }

    private Language language(String name) {
        return Language.named(name)
                .filter(languages::has)
                .orElseThrow(() -> new CayException(
                        ErrorKind.FAILED,
                        "Failed to create context: this sandbox has no language '%s'; it has %s"
                                .formatted(name.isBlank() ? Language.PYTHON.label() : name, languages.names())));
    }

    private void requireRoom() {
        if (all.size() >= MOST) {
            throw new CayException(
                    ErrorKind.FAILED,
                    "Failed to create context: a sandbox has at most %d; remove one first".formatted(MOST));
        }
    }

    private Context fresh(Language language, String cwd, boolean warm) {
        return new Context(this, UUID.randomUUID().toString(), language, cwd, warm);
    }

    private synchronized void put(Context context, boolean isUsual) {
        all.put(context.id(), context);
        if (isUsual) {
            usual.put(context.language(), context);
        }
    }

    @Override
    public Runner launch(Context context, boolean warm) {
        var purpose = new Runners.Purpose(context.id(), context.language(), surroundings.variables(), warm);
        return runners.launch(purpose, context.cwd());
    }

    @Override
    public long nextNumber() {
        return numbers.incrementAndGet();
    }

    @Override
    public String seed() {
        byte[] bytes = new byte[16];
        RANDOM.nextBytes(bytes);
        return HexFormat.of().formatHex(bytes);
    }

    @Override
    public boolean isClosed() {
        return closed;
    }

    @Override
    public void requireOpen() {
        if (closed) {
            throw new CayException(ErrorKind.UNAVAILABLE, "the sandbox is being stopped");
        }
    }

    /// Soon, and not after {@link #close}.
    @Override
    public void save() {
        synchronized (this) {
            changes++;
        }
        work.run(this::write);
    }

    private boolean write() throws IOException {
        synchronized (file) {
            ContextNotes latest;
            long upTo;
            synchronized (this) {
                if (lettingGo || written == changes) {
                    return false;
                }
                upTo = changes;
                latest = notes();
            }
            latest.write(file);
            synchronized (this) {
                written = upTo;
            }
        }
        return true;
    }

    private ContextNotes notes() {
        var contexts = new ArrayList<ContextNotes.Entry>();
        all.values()
                .forEach(context -> contexts.add(new ContextNotes.Entry(
                        context.id(),
                        context.language().label(),
                        context.cwd(),
                        context.pid(),
                        usual.containsValue(context))));
        var waiting = new ArrayList<ContextNotes.Entry>();
        spare.forEach((language, runner) ->
                waiting.add(new ContextNotes.Entry("", language.label(), USUAL_CWD, runner.pid(), false)));
        return new ContextNotes(
                surroundings.sandbox(),
                surroundings.variables().keySet().stream().sorted().toList(),
                contexts,
                waiting);
    }

    /// Starts nothing more, and interrupts no running cell.
    void leave() {
        closed = true;
    }

    /// Closes every runner's pipes; they continue, and the notes name them.
    @Override
    public void close() {
        closed = true;
        saveAll();
        List<Context> open;
        List<Runner> waiting;
        synchronized (this) {
            lettingGo = true;
            open = List.copyOf(all.values());
            waiting = List.copyOf(spare.values());
        }
        open.forEach(Context::close);
        waiting.forEach(Runner::close);
    }

    private void saveAll() {
        synchronized (this) {
            if (written == changes) {
                return;
            }
        }
        try {
            work.call(FILE_LIMIT, this::write);
        } catch (IOException | CayException e) {
            log.atWarn().setCause(e).addKeyValue("file", file).log("cannot write the notes of contexts");
        }
    }
}
