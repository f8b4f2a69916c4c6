package dev.cay.node.interpreter;

import dev.cay.http.ErrorRenderer;
import dev.cay.http.Exchange;
import dev.cay.http.Handler;
import dev.cay.http.LargeJson;
import dev.cay.http.Routes;
import dev.cay.node.guest.GuestLink;
import dev.cay.node.guest.GuestProcess;
import dev.cay.node.lines.LongLines;
import dev.cay.node.process.Workers;
import dev.cay.wire.AccessToken;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.SystemPorts;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/// Port 49999 of one sandbox: runs code and returns results, by the protocol of E2B's code-interpreter clients. Only
/// sandboxes whose template has runners have it.
///
/// Order: `new`, {@link #adopt}, use, {@link #close}.
public final class Interpreter implements Handler, AutoCloseable {
    private static final Duration WARM_LIMIT = Duration.ofSeconds(120);

    /// @param id          of the sandbox
    /// @param defaults    default variables of every process
    /// @param environment the sandbox's variables
    /// @param accessToken token that cells from outside need, or null for none
    /// @param memoryMB    memory of the sandbox
    public record Home(
            String id,
            Map<String, String> defaults,
            Map<String, String> environment,
            @Nullable AccessToken accessToken,
            int memoryMB) {
        public Home {
            defaults = Map.copyOf(defaults);
            environment = Map.copyOf(environment);
        }
    }

    private final boolean fromStart;
    private final Contexts contexts;
    private final Contexts.Recall before;
    private final InstantSource clock;
    private volatile @Nullable AccessToken accessToken;
    private final CompletableFuture<Void> warm = new CompletableFuture<>();
    private final Routes routes = new Routes()
            .on("GET", "/health", this::health)
            .on("POST", "/execute", this::execute)
            .on("POST", "/contexts", this::create)
            .on("GET", "/contexts", this::list)
            .on("POST", "/contexts/{id}/restart", this::restart)
            .on("DELETE", "/contexts/{id}", this::remove);

    /// Receives its runners' ends from now on. Make this before the guest's processes are listed.
    ///
    /// @param directory of the sandbox's processes
    public Interpreter(
            Home home, Languages languages, GuestLink link, Workers workers, Path directory, InstantSource clock)
            throws IOException {
        this.clock = clock;
        this.fromStart = languages.fromStart();
        this.accessToken = home.accessToken();
        this.contexts = new Contexts(
                new Runners(link, workers, new LongLines(), home.defaults(), languages),
                workers.logs(),
                directory,
                new Surroundings(home.id(), home.environment(), Set.of()),
                home.memoryMB() >= 1024);
        this.before = contexts.recall();
    }

    /// Whether a new sandbox has contexts from the start, and the interpreter listens on its port inside.
    public boolean isFromStart() {
        return fromStart;
    }

    /// Whether a process is a runner rather than a command of the user's.
    public static boolean isRunner(GuestProcess process) {
        return Runners.isRunner(process);
    }

    /// Adopts running runners; starts those of a new sandbox in the background.
    public void adopt() throws IOException {
        before.adopt();
        Thread.ofVirtual().name("interpreter-start").start(() -> {
            try {
                contexts.warm();
                warm.complete(null);
            } catch (RuntimeException e) {
                warm.completeExceptionally(e);
            }
        });
    }

    /// Sets the variables and token of a spare that gets an owner.
    public void become(Map<String, String> environment, @Nullable AccessToken token) {
        accessToken = token;
        contexts.become(environment);
    }

    /// Waits until the contexts of a new sandbox are ready.
    public void awaitWarm() {
        try {
            warm.get(WARM_LIMIT.toNanos(), TimeUnit.NANOSECONDS);
        } catch (ExecutionException e) {
            throw e.getCause() instanceof CayException known
                    ? known
                    : new CayException(ErrorKind.INTERNAL, "the interpreter does not start", e);
        } catch (TimeoutException e) {
            throw new CayException(ErrorKind.DEADLINE_EXCEEDED, "the interpreter takes too long to start", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CayException(ErrorKind.CANCELED, "interrupted", e);
        }
    }

    @Override
    public void handle(Exchange exchange) throws Exception {
        exchange.with("Access-Control-Allow-Origin", "*");
        if (exchange.method().equals("OPTIONS")) {
            preflight(exchange);
            return;
        }
        try {
            routes.handle(exchange);
        } catch (CayException e) {
            if (exchange.committed()) {
                throw e;
            }
            text(exchange, ErrorRenderer.status(e.kind()), e.userMessage());
        }
    }

    private static void preflight(Exchange exchange) {
        String headers = exchange.header("Access-Control-Request-Headers");
        exchange.with("Access-Control-Allow-Methods", "GET, POST, DELETE")
                .with("Access-Control-Allow-Headers", headers == null ? "*" : headers)
                .send(200);
    }

    private static void text(Exchange exchange, int status, String message) {
        exchange.retryLater(status).send(status, "text/plain; charset=utf-8", message.getBytes(StandardCharsets.UTF_8));
    }

    private void health(Exchange exchange) {
        awaitWarm();
        exchange.sendJson(200, "OK");
    }

    /// The body of a cell's request; absent fields may be null as well.
    private record Cell(
            @Nullable String code,
            @Nullable String context_id,
            @Nullable String language,
            @Nullable Map<String, @Nullable String> env_vars) {}

    /// Checks the token of a cell. The address of a port is often shared together with that of another port, and
    /// running code is more than seeing a page: cells need the sandbox's token. Clients send it with them, but not
    /// with calls about contexts.
    ///
    /// Code in the sandbox itself needs none on its loopback. Requests through the edge, from other sandboxes and
    /// the MCP servers of this one, always need it.
    private void authorize(Exchange exchange) {
        var token = accessToken;
        boolean own = exchange.inside() != null && exchange.localPort() == SystemPorts.INTERPRETER;
        if (token != null && !own && !token.matches(exchange.header("X-Access-Token"))) {
            throw new CayException(
                    ErrorKind.UNAUTHENTICATED, "the header X-Access-Token does not have the sandbox's token");
        }
    }

    private void execute(Exchange exchange) {
        authorize(exchange);
        LargeJson<Cell> body;
        try {
            body = LargeJson.read(exchange, Cell.class);
        } catch (CayException e) {
            if (e.kind() != ErrorKind.INVALID_ARGUMENT) {
                throw e;
            }
            refuse(exchange, e.userMessage());
            return;
        }
        try (body) {
            var cell = body.value();
            String code = cell == null ? null : cell.code();
            if (cell == null || code == null) {
                refuse(exchange, "code is missing: a string");
                return;
            }
            var variables = variables(cell);
            var context = context(cell);
            var stream = new CellStream(exchange, clock, context::look);
            context.run(new Context.Cell(code, variables, body::close), stream);
        }
    }

    private static void refuse(Exchange exchange, String reason) {
        exchange.sendJson(422, Map.of("detail", reason));
    }

    private Context context(Cell cell) {
        if (cell.context_id() == null) {
            return contexts.usual(cell.language() == null ? "" : cell.language());
        }
        if (cell.language() != null) {
            throw new CayException(ErrorKind.INVALID_ARGUMENT, "Only one of context_id or language can be provided");
        }
        return contexts.require(cell.context_id());
    }

    private static Map<String, String> variables(Cell cell) {
        var variables = new TreeMap<String, String>();
        if (cell.env_vars() != null) {
            cell.env_vars().forEach((name, value) -> {
                if (value == null || name.isEmpty() || (name + value).indexOf('\0') >= 0 || name.indexOf('=') >= 0) {
                    throw new CayException(ErrorKind.INVALID_ARGUMENT, "env_vars: '%s' is no variable".formatted(name));
                }
                variables.put(name, value);
            });
        }
        return variables;
    }

    private record Wanted(
            @Nullable String language, @Nullable String cwd) {}

    private record View(String id, String language, String cwd) {
        static View of(Context context) {
            return new View(context.id(), context.language().label(), context.cwd());
        }
    }

    private void create(Exchange exchange) {
        var wanted = exchange.json(Wanted.class);
        String language = wanted == null || wanted.language() == null ? "" : wanted.language();
        String cwd = wanted == null || wanted.cwd() == null ? Contexts.USUAL_CWD : wanted.cwd();
        exchange.sendJson(200, View.of(contexts.create(language, cwd)));
    }

    private void list(Exchange exchange) {
        exchange.sendJson(200, contexts.list().stream().map(View::of).toList());
    }

    private void restart(Exchange exchange) {
        contexts.require(exchange.parameter("id")).restart();
        contexts.save();
        nothing(exchange);
    }

    private void remove(Exchange exchange) {
        contexts.remove(exchange.parameter("id"));
        nothing(exchange);
    }

    private static void nothing(Exchange exchange) {
        exchange.send(200, "application/json", "null".getBytes(StandardCharsets.US_ASCII));
    }

    /// Notes that clients are being disconnected by the node, so that their cells are not interrupted.
    public void leave() {
        contexts.leave();
    }

    /// Disconnects from the runners; cells continue, and their clients see the connection break.
    @Override
    public void close() {
        contexts.close();
    }
}
