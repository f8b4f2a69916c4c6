package dev.cay.cli;

import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.io.PrintStream;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import tools.jackson.databind.JsonNode;

/// Has the daemon build a template, and shows the log.
final class TemplateBuildCall {
    private static final Duration EVERY = Duration.ofMillis(300);
    private static final int PAGE = 100;

    private final Api api;
    private final PrintStream out;

    /// @param out where the build's log is shown
    TemplateBuildCall(Api api, PrintStream out) {
        this.api = api;
        this.out = out;
    }

    /// Shows the log until the build ends. An interrupt cancels the build.
    ///
    /// @param request name, tags and sizes of the template
    /// @param start   the body of the start; called with the template's id, and may send files
    void run(Map<String, Object> request, Function<String, Map<String, Object>> start) throws InterruptedException {
        var requested = api.call("POST", "/v3/templates", request);
        String template = requested.path("templateID").asString();
        String build = requested.path("buildID").asString();
        boolean over = false;
        try {
            api.call("POST", "/v2/templates/%s/builds/%s".formatted(template, build), start.apply(template));
            var end = follow(template, build);
            over = true;
            requireReady(end);
        } finally {
            if (!over) {
                cancel(template, build);
            }
        }
        out.println("Template %s is ready (%s)".formatted(request.get("name"), template));
    }

    /// Whether the daemon has these files.
    ///
    /// @param what they are, for the log
    boolean has(String template, String hash, String what) {
        boolean present = link(template, hash).path("present").asBoolean(false);
        if (present) {
            out.println("The daemon has %s already".formatted(what));
        }
        return present;
    }

    /// @param what description of the files, for the log
    void send(String template, String hash, String what, Path archive) throws IOException {
        out.println("Sending %s, %s".formatted(what, PoolCommand.size(Files.size(archive))));
        api.upload(URI.create(link(template, hash).path("url").asString()), archive);
    }

    private JsonNode link(String template, String hash) {
        return api.call("GET", "/templates/%s/files/%s".formatted(template, hash), null);
    }

    /// @return the last status
    private JsonNode follow(String template, String build) throws InterruptedException {
        int shown = 0;
        while (true) {
            var status = api.call(
                    "GET",
                    "/templates/%s/builds/%s/status?logsOffset=%d&limit=%d".formatted(template, build, shown, PAGE),
                    null);
            int count = 0;
            for (var line : status.path("logEntries")) {
                out.println(line.path("message").asString(""));
                count++;
            }
            shown += count;
            String state = status.path("status").asString("");
            if (count < PAGE && (state.equals("ready") || state.equals("error"))) {
                return status;
            }
            if (count < PAGE) {
                TimeUnit.NANOSECONDS.sleep(EVERY.toNanos());
            }
        }
    }

    private static void requireReady(JsonNode status) {
        if (!status.path("status").asString("").equals("ready")) {
            throw new CayException(
                    ErrorKind.FAILED,
                    "the build failed: " + status.path("reason").path("message").asString("no reason is known"));
        }
    }

    private void cancel(String template, String build) {
        boolean interrupted = Thread.interrupted();
        try {
            api.call("POST", "/templates/%s/builds/%s/cancel".formatted(template, build), Map.of());
            out.println("The build was cancelled");
        } catch (CayException e) {
            out.println("The build could not be cancelled: " + e.userMessage());
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
