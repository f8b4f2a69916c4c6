package dev.cay.node.ingress;

import com.fasterxml.jackson.annotation.JsonProperty;
import dev.cay.http.Exchange;
import dev.cay.node.files.SandboxPath;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// `/files/compose`: joins uploaded pieces into one file.
record ComposeRoute(EnvdSandbox sandbox, Users users) {
    private static final int MOST_SOURCES = 10_000;

    private record Request(
            @JsonProperty("source_paths") @Nullable List<@Nullable String> sources,
            @Nullable String destination,
            @Nullable String username) {}

    void compose(Exchange exchange) throws IOException {
        var request = exchange.json(Request.class);
        if (request == null) {
            throw bad("the body must be JSON with source_paths and destination");
        }
        var sources = request.sources();
        if (sources == null || sources.isEmpty() || sources.size() > MOST_SOURCES) {
            throw bad("source_paths must name 1 to %d files".formatted(MOST_SOURCES));
        }
        String given = request.destination();
        if (given == null || given.isEmpty()) {
            throw bad("destination is required");
        }
        var user = users.named(request.username());
        var destination = SandboxPath.resolve(given, user, user.home());
        var paths = new ArrayList<SandboxPath>();
        for (String source : sources) {
            if (source == null || source.isEmpty()) {
                throw bad("source_paths must not hold an empty path");
            }
            var path = SandboxPath.resolve(source, user, user.home());
            if (path.equals(destination)) {
                throw bad("source path '%s' is the same as the destination".formatted(path));
            }
            paths.add(path);
        }
        sandbox.files().compose(paths, destination, user);
        long size = sandbox.files().stat(destination).size();
        FileLog.written(sandbox.log(), destination, size, user);
        exchange.sendJson(200, FileRoutes.answer(destination, java.util.Map.of()));
    }

    private static CayException bad(String message) {
        return new CayException(ErrorKind.INVALID_ARGUMENT, message);
    }
}
