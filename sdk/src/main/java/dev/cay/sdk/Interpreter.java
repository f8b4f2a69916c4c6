package dev.cay.sdk;

import dev.cay.sdk.SandboxException.Kind;
import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/// Runs code in a sandbox whose template has an interpreter, like `code-interpreter-v1`.
public final class Interpreter {
    /// Limit of the output, and of one line. Code may print without end, or answer in the interpreter's place.
    private static final int MOST_PRINTED = 16 << 20;

    private static final int LONGEST_LINE = 256 << 20;

    private final SandboxEndpoint door;
    private final Http http;

    Interpreter(SandboxEndpoint door, Http http) {
        this.door = door;
        this.http = http;
    }

    public Execution run(String code) {
        return run(Cell.of(code));
    }

    /// Runs a cell and waits for its end. Its time limit, or an interrupt of this thread, interrupts the code; the
    /// context keeps its variables.
    public Execution run(Cell cell) {
        var wish = new LinkedHashMap<String, Object>();
        wish.put("code", cell.code());
        if (cell.language() != null) {
            wish.put("language", cell.language());
        }
        if (cell.context() != null) {
            wish.put("context_id", cell.context().id());
        }
        if (!cell.env().isEmpty()) {
            wish.put("env_vars", cell.env());
        }
        var answer = http.open(post("/execute", wish));
        var deadline = http.alarm(answer.body(), cell.timeout());
        try (var body = answer.body();
                deadline) {
            return new Reading(cell).follow(body);
        } catch (IOException e) {
            throw broken(cell, e, deadline.rang());
        }
    }

    private static SandboxException broken(Cell cell, IOException e, boolean late) {
        if (Thread.currentThread().isInterrupted() || e.getCause() instanceof InterruptedException) {
            Thread.currentThread().interrupt();
            return new SandboxException(Kind.INTERRUPTED, "interrupted while the code ran", e);
        }
        return late
                ? new SandboxException(Kind.TIMEOUT, "the code ran longer than %s".formatted(cell.timeout()), e)
                : new SandboxException(Kind.GONE, "the connection to the sandbox was lost while the code ran", e);
    }

    /// Creates a context: an interpreter with its own variables, in the user's home.
    public CodeContext createContext(String language) {
        return CodeContext.of(http.json(post("/contexts", Map.of("language", language))));
    }

    public CodeContext createContext(String language, String cwd) {
        return CodeContext.of(http.json(post("/contexts", Map.of("language", language, "cwd", cwd))));
    }

    public List<CodeContext> contexts() {
        return http.json(door.request(SandboxEndpoint.INTERPRETER, "/contexts")
                        .GET()
                        .build())
                .valueStream()
                .map(CodeContext::of)
                .toList();
    }

    /// Restarts a context, which loses all its variables.
    public void restart(CodeContext context) {
        http.bytes(post("/contexts/" + Api.encode(context.id()) + "/restart", null));
    }

    public void remove(CodeContext context) {
        http.bytes(door.request(SandboxEndpoint.INTERPRETER, "/contexts/" + Api.encode(context.id()))
                .DELETE()
                .build());
    }

    private HttpRequest post(String path, @Nullable Map<String, ?> wish) {
        var body = wish == null ? BodyPublishers.noBody() : BodyPublishers.ofString(Http.JSON.writeValueAsString(wish));
        return door.request(SandboxEndpoint.INTERPRETER, path)
                .header("Content-Type", "application/json")
                .POST(body)
                .build();
    }

    /// Reads the lines of one running cell.
    private static final class Reading {
        private final Cell cell;
        private final List<Result> results = new ArrayList<>();
        private final Kept stdout = new Kept(MOST_PRINTED);
        private final Kept stderr = new Kept(MOST_PRINTED);
        private Execution.@Nullable Raised error;
        private int count;
        private boolean ended;

        Reading(Cell cell) {
            this.cell = cell;
        }

        Execution follow(InputStream body) throws IOException {
            var in = new BufferedInputStream(body);
            while (!ended) {
                take(Http.parse(line(in)));
            }
            return new Execution(results, stdout.text(), stderr.text(), error, count, stdout.isCut() || stderr.isCut());
        }

        private String line(InputStream in) throws IOException {
            var line = new ByteArrayOutputStream();
            for (int next = in.read(); next != '\n'; next = in.read()) {
                if (next < 0) {
                    throw new EOFException("it ended in the middle");
                }
                if (line.size() == LONGEST_LINE) {
                    throw new IOException("a line is longer than %d bytes".formatted(LONGEST_LINE));
                }
                line.write(next);
            }
            return line.toString(StandardCharsets.UTF_8);
        }

        private void take(JsonNode line) {
            String text = line.path("text").asString("");
            switch (line.path("type").asString("")) {
                case "stdout" -> {
                    stdout.add(text);
                    cell.onStdout().accept(text);
                }
                case "stderr" -> {
                    stderr.add(text);
                    cell.onStderr().accept(text);
                }
                case "result" -> {
                    var result = Result.of(line);
                    results.add(result);
                    cell.onResult().accept(result);
                }
                case "error" ->
                    error = new Execution.Raised(
                            line.path("name").asString(""),
                            line.path("value").asString(""),
                            line.path("traceback").asString(""));
                case "number_of_executions" ->
                    count = line.path("execution_count").asInt(0);
                case "end_of_execution" -> ended = true;
                default -> {
                    // A sign of life, or something a newer interpreter tells.
                }
            }
        }
    }
}
