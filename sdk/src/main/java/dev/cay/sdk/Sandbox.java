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

/// A sandbox: commands, files, code and ports.
///
/// Closing a sandbox that this program created kills it, so a `try` block leaves nothing behind. Closing one that was
/// connected to leaves it running, and so does {@link #detach} for a created one.
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

    /// Runs Python code. {@link #interpreter} has other languages and contexts.
    public Execution runCode(String code) {
        return interpreter.run(code);
    }

    public Execution runCode(Cell cell) {
        return interpreter.run(cell);
    }

    public SandboxInfo info() {
        return SandboxInfo.of(api.get(path("")));
    }

    /// Whether it is running.
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

    /// Sets its timeout to this time from now, earlier or later than before.
    public void setTimeout(Duration fromNow) {
        api.post(path("/timeout"), Map.of("timeout", NewSandbox.wholeSeconds(fromNow)));
    }

    /// Replaces its egress rules. Open connections that the new rules do not allow are cut.
    public void setEgress(EgressRules rules) {
        api.put(path("/network"), rules.body());
    }

    /// Its use of resources, one entry every few seconds, oldest first.
    public List<SandboxMetrics> metrics() {
        return api.get(path("/metrics")).valueStream().map(SandboxMetrics::of).toList();
    }

    /// The host name of a server at this port of the sandbox.
    public String host(int port) {
        return door.host(port);
    }

    public URI url(int port) {
        return URI.create("https://" + door.host(port));
    }

    /// Pauses the sandbox, which keeps its files and memory.
    ///
    /// @return whether it was running
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

    /// Resumes the sandbox where it was paused; a running one is not changed.
    public void resume() {
        api.post("/v2" + path("/connect"), Map.of());
    }

    /// Creates copies of the sandbox with its running processes: all of them or none. The sandbox itself keeps
    /// running.
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

    /// Saves the current state under a name, from which new sandboxes can start. The sandbox keeps running.
    public String snapshot(String name) {
        return snapshotId(api.post(path("/snapshots"), Map.of("name", name)));
    }

    static String snapshotId(JsonNode json) {
        return json.path("snapshotID").asString("");
    }

    /// The address at which MCP clients reach the servers it was created with. They must send {@link #mcpToken}.
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

    /// Kills it.
    ///
    /// @return whether it still existed
    public boolean kill() {
        return api.delete(path(""));
    }

    /// Makes {@link #close} leave the sandbox running until it times out.
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
