package dev.cay.sdk;

import dev.cay.sdk.SandboxException.Kind;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/// A computer of one's own: commands, files, code and ports.
///
/// Closing one that was created here kills it, so that a `try` block leaves nothing behind; one that was connected to
/// lives on. {@link #detach} lets a created one live on too.
public final class Sandbox implements AutoCloseable {
    private static final String GATEWAY_TOKEN = "/etc/mcp-gateway/.token";

    private final Api api;
    private final SandboxEndpoint door;
    private final Commands commands;
    private final SandboxFiles files;
    private final Interpreter interpreter;
    private volatile boolean owned;
    private volatile @Nullable String mcpToken;

    private Sandbox(Api api, SandboxEndpoint door, boolean owned) {
        this.api = api;
        this.door = door;
        this.owned = owned;
        this.commands = new Commands(new Rpc(door, api.http(), null));
        this.files = new SandboxFiles(door, api.http(), null);
        this.interpreter = new Interpreter(door, api.http());
    }

    static Sandbox of(Api api, JsonNode json, boolean owned) {
        String domain = json.path("domain").asString("");
        var door = new SandboxEndpoint(
                api.settings(),
                json.path("sandboxID").asString(""),
                domain.isEmpty() ? api.settings().domain() : domain,
                textOrNull(json.path("envdAccessToken")),
                textOrNull(json.path("trafficAccessToken")));
        return new Sandbox(api, door, owned);
    }

    private static @Nullable String textOrNull(JsonNode json) {
        return json.isString() && !json.asString().isEmpty() ? json.asString() : null;
    }

    public String id() {
        return door.id();
    }

    public Commands commands() {
        return commands;
    }

    public SandboxFiles files() {
        return files;
    }

    public Interpreter interpreter() {
        return interpreter;
    }

    /// Runs Python; {@link #interpreter} does more.
    public Execution runCode(String code) {
        return interpreter.run(code);
    }

    public Execution runCode(Cell cell) {
        return interpreter.run(cell);
    }

    public SandboxInfo info() {
        return SandboxInfo.of(api.get(path("")));
    }

    /// Whether it runs now.
    public boolean isRunning() {
        try {
            api.http()
                    .bytes(door.request(SandboxEndpoint.SYSTEM, "/health").GET().build());
            return true;
        } catch (SandboxException e) {
            if (e.kind() == Kind.GONE || e.kind() == Kind.NOT_FOUND) {
                return false;
            }
            throw e;
        }
    }

    /// It ends that long from now, be it sooner or later than before.
    public void setTimeout(Duration fromNow) {
        api.post(path("/timeout"), Map.of("timeout", NewSandbox.wholeSeconds(fromNow)));
    }

    /// What it may reach from now on, in place of all that was said before. Open connections that are not
    /// allowed any more are cut.
    public void setEgress(EgressRules rules) {
        api.put(path("/network"), rules.body());
    }

    /// What it used, one entry every few seconds, oldest first.
    public List<SandboxMetrics> metrics() {
        return api.get(path("/metrics")).valueStream().map(SandboxMetrics::of).toList();
    }

    /// Name under which a server inside is reached from outside.
    public String host(int port) {
        return door.host(port);
    }

    public URI url(int port) {
        return URI.create("https://" + door.host(port));
    }

    /// Keeps files and memory and stops using the processor. Whether it was running.
    public boolean pause() {
        try {
            api.post(path("/pause"), Map.of());
            return true;
        } catch (SandboxException e) {
            if (e.kind() == Kind.CONFLICT) {
                return false;
            }
            throw e;
        }
    }

    /// Goes on where it was paused; nothing happens to one that runs.
    public void resume() {
        api.post("/v2" + path("/connect"), Map.of());
    }

    /// Copies of it as it is now, with all that runs in them: all that were asked for, or none. It goes on itself.
    public List<Sandbox> fork(int count, Duration timeout) {
        var wish = Map.of("count", count, "timeout", NewSandbox.wholeSeconds(timeout));
        var copies = new ArrayList<Sandbox>();
        @Nullable SandboxException failure = null;
        for (var entry : api.post(path("/fork"), wish)) {
            if (entry.path("sandbox").isObject()) {
                copies.add(of(api, entry.path("sandbox"), true));
            } else {
                failure = refused(entry.path("error"));
            }
        }
        if (failure != null) {
            for (var copy : copies) {
                copy.killAfter(failure);
            }
            throw failure;
        }
        return copies;
    }

    private static SandboxException refused(JsonNode error) {
        return new SandboxException(
                SandboxException.ofStatus(error.path("code").asInt(500)),
                error.path("message").asString("the sandbox could not be forked"));
    }

    /// Keeps what it is now under a name, from which others can be created. It goes on itself.
    public String snapshot(String name) {
        return snapshotId(api.post(path("/snapshots"), Map.of("name", name)));
    }

    static String snapshotId(JsonNode json) {
        return json.path("snapshotID").asString("");
    }

    /// Where MCP clients find the servers it was created with. They have to send {@link #mcpToken}.
    public URI mcpUrl() {
        return URI.create("https://%s/mcp".formatted(door.host(SandboxEndpoint.MCP)));
    }

    public String mcpToken() {
        var known = mcpToken;
        if (known == null) {
            known = files.as("root").read(GATEWAY_TOKEN).strip();
            mcpToken = known;
        }
        return known;
    }

    void startMcp(Map<String, ?> servers) {
        String token = UUID.randomUUID().toString();
        String config = Http.JSON.writeValueAsString(servers).replace("'", "'\\''");
        var started = commands.run(Command.of("mcp-gateway --config '%s'".formatted(config))
                .as("root")
                .with("GATEWAY_ACCESS_TOKEN", token));
        if (!started.succeeded()) {
            throw new SandboxException(
                    Kind.FAILED,
                    "the MCP gateway did not start: " + started.stderr().strip());
        }
        mcpToken = token;
    }

    /// Whether it was still there.
    public boolean kill() {
        return api.delete(path(""));
    }

    /// It lives on when this is closed, until its time is up.
    public Sandbox detach() {
        owned = false;
        return this;
    }

    void killAfter(RuntimeException failure) {
        try {
            Interrupts.holdDuring(this::kill);
        } catch (SandboxException e) {
            failure.addSuppressed(e);
        }
    }

    private String path(String rest) {
        return "/sandboxes/" + Api.encode(door.id()) + rest;
    }

    @Override
    public void close() {
        if (owned) {
            Interrupts.holdDuring(this::kill);
        }
    }

    @Override
    public String toString() {
        return "Sandbox[" + id() + "]";
    }
}
