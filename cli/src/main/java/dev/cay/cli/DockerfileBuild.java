package dev.cay.cli;

import dev.cay.dockerfile.BuildArguments;
import dev.cay.dockerfile.BuildContext;
import dev.cay.dockerfile.Buildable;
import dev.cay.dockerfile.DockerfileException;
import dev.cay.dockerfile.IgnoreRules;
import dev.cay.dockerfile.Instruction.Source;
import dev.cay.dockerfile.Instruction.Transfer;
import dev.cay.dockerfile.Position;
import dev.cay.dockerfile.Selection;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.zip.GZIPOutputStream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/// A Dockerfile of this machine that the daemon builds.
final class DockerfileBuild {
    private static final Duration EVERY = Duration.ofMillis(300);
    private static final int PAGE = 100;

    private final Path dockerfile;
    private final Path context;
    private final Map<String, String> arguments;
    private final @Nullable String target;
    private final PrintStream out;

    /// @param target the stage to build; null for the last one
    /// @param out    where the build's log is shown
    DockerfileBuild(
            Path dockerfile, Path context, Map<String, String> arguments, @Nullable String target, PrintStream out) {
        this.dockerfile = dockerfile;
        this.context = context;
        this.arguments = Map.copyOf(arguments);
        this.target = target;
        this.out = out;
    }

    /// Refuses what the daemon would refuse.
    Buildable.Plan check() {
        try {
            return Buildable.read(text(), name(), BuildArguments.ofHost(arguments), target);
        } catch (DockerfileException e) {
            throw refused(e);
        }
    }

    private String text() {
        try {
            return Files.readString(dockerfile);
        } catch (IOException e) {
            throw new CayException(ErrorKind.INVALID_ARGUMENT, "%s cannot be read: %s".formatted(dockerfile, e), e);
        }
    }

    private String name() {
        return String.valueOf(dockerfile.getFileName());
    }

    private static CayException refused(DockerfileException e) {
        return new CayException(ErrorKind.INVALID_ARGUMENT, String.valueOf(e.getMessage()), e);
    }

    /// Sends all, and shows what the build says until it ends. A thread that is interrupted cancels the build.
    ///
    /// @param request name, tags and sizes of the template
    /// @return the template's id
    String run(Api api, Map<String, Object> request, boolean noCache) throws InterruptedException {
        boolean needsContext = check().needsContext();
        var selection = needsContext ? selection() : null;
        var requested = api.call("POST", "/v3/templates", request);
        String template = requested.path("templateID").asString();
        String build = requested.path("buildID").asString();
        boolean over = false;
        try {
            var start = new LinkedHashMap<String, Object>();
            start.put("dockerfile", text());
            start.put("dockerfileName", name());
            start.put("buildArgs", arguments);
            start.put("force", noCache);
            if (target != null) {
                start.put("target", target);
            }
            if (selection != null) {
                start.put("filesHash", send(api, template, selection));
            }
            api.call("POST", "/v2/templates/%s/builds/%s".formatted(template, build), start);
            var end = follow(api, template, build);
            over = true;
            requireReady(end);
        } finally {
            if (!over) {
                cancel(api, template, build);
            }
        }
        out.println("Template %s is ready (%s)".formatted(request.get("name"), template));
        return template;
    }

    private Selection selection() {
        try {
            var all = new Source(new Position(1, 1), ".");
            var transfer = new Transfer(List.of(all), List.of(), "/", null, null, List.of(), false, false);
            return BuildContext.of(context, IgnoreRules.load(context, dockerfile))
                    .select(transfer, name(), new Position(1, 1));
        } catch (DockerfileException e) {
            throw refused(e);
        } catch (IOException e) {
            throw new CayException(ErrorKind.INVALID_ARGUMENT, "%s cannot be read: %s".formatted(context, e), e);
        }
    }

    /// @return the hash by which the daemon knows the files
    private String send(Api api, String template, Selection files) {
        try {
            String hash = files.hash();
            var link = api.call("GET", "/templates/%s/files/%s".formatted(template, hash), null);
            if (link.path("present").asBoolean(false)) {
                out.println("The daemon has the build context already");
                return hash;
            }
            var archive = Files.createTempFile("cay-context-", ".tar.gz");
            try {
                try (var packed = new GZIPOutputStream(new BufferedOutputStream(Files.newOutputStream(archive)))) {
                    files.writeTar(packed);
                }
                out.println("Sending the build context: %d files, %s"
                        .formatted(files.entries().size(), PoolCommand.size(Files.size(archive))));
                api.upload(URI.create(link.path("url").asString()), archive);
            } finally {
                Files.deleteIfExists(archive);
            }
            return hash;
        } catch (IOException e) {
            throw new CayException(
                    ErrorKind.UNAVAILABLE, "the build context could not be packed: " + e.getMessage(), e);
        }
    }

    /// @return the last status
    private JsonNode follow(Api api, String template, String build) throws InterruptedException {
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

    private void cancel(Api api, String template, String build) {
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
