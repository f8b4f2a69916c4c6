package dev.cay.sdk;

import java.time.Duration;
import java.util.List;
import java.util.Map;

/// Creates sandboxes, and connects to existing ones. One instance serves a whole program; it is thread-safe.
///
/// {@snippet file = "Hello.java" region = "hello"}
public final class Cay implements AutoCloseable {
    private final Api api;

    private Cay(Settings settings) {
        this.api = new Api(settings, new Http(settings.certificates()));
    }

    /// Reads the variables that `cay env` exports.
    public static Cay fromEnvironment() {
        return new Cay(Settings.fromEnvironment());
    }

    public static Cay with(Settings settings) {
        return new Cay(settings);
    }

    /// Creates a sandbox from the template `base`.
    public Sandbox create() {
        return create(NewSandbox.usual());
    }

    public Sandbox create(String template) {
        return create(NewSandbox.of(template));
    }

    public Sandbox create(NewSandbox wish) {
        var sandbox = Sandbox.of(api, api.post("/v2/sandboxes", wish.body()), true);
        if (!wish.mcp().isEmpty()) {
            try {
                sandbox.startMcp(wish.mcp());
            } catch (RuntimeException e) {
                sandbox.killAfter(e);
                throw e;
            }
        }
        return sandbox;
    }

    /// Connects to an existing sandbox; a paused one is resumed. Closing the result leaves the sandbox running.
    public Sandbox connect(String id) {
        return connect(id, Map.of());
    }

    /// @param timeout the sandbox lives at least this long from now on
    public Sandbox connect(String id, Duration timeout) {
        return connect(id, Map.of("timeout", NewSandbox.wholeSeconds(timeout)));
    }

    private Sandbox connect(String id, Map<String, ?> body) {
        return Sandbox.of(api, api.post("/v2/sandboxes/%s/connect".formatted(Api.encode(id)), body), false);
    }

    public SandboxInfo info(String id) {
        return SandboxInfo.of(api.get("/sandboxes/" + Api.encode(id)));
    }

    /// Lists all running and paused sandboxes, newest first.
    public List<SandboxInfo> list() {
        return list(SandboxFilter.ALL);
    }

    public List<SandboxInfo> list(SandboxFilter filter) {
        return api.list("/v2/sandboxes", filter.query()).stream()
                .map(SandboxInfo::of)
                .toList();
    }

    /// Kills a sandbox.
    ///
    /// @return whether it existed
    public boolean kill(String id) {
        return api.delete("/sandboxes/" + Api.encode(id));
    }

    /// Deletes a snapshot.
    ///
    /// @return whether it existed
    public boolean removeSnapshot(String snapshot) {
        return api.delete("/templates/" + Api.encode(snapshot));
    }

    /// Lists the names of all snapshots. Each is a template for {@link #create(String)}.
    public List<String> snapshots() {
        return api.list("/snapshots", Map.of()).stream()
                .map(Sandbox::snapshotId)
                .toList();
    }

    /// The team's secrets.
    public Secrets secrets() {
        return new Secrets(api);
    }

    /// Creates a volume: files that outlive sandboxes.
    ///
    /// @param name letters, digits, `-` and `_`; unique in the team
    public Volume createVolume(String name) {
        return Volume.of(api, api.post("/volumes", Map.of("name", name)));
    }

    /// @param sizeMB its size limit; E2B's cloud ignores it
    public Volume createVolume(String name, int sizeMB) {
        return Volume.of(api, api.post("/volumes", Map.of("name", name, "sizeMB", sizeMB)));
    }

    /// Connects to an existing volume.
    public Volume volume(String id) {
        return Volume.of(api, api.get("/volumes/" + Api.encode(id)));
    }

    /// All volumes of the team.
    public List<VolumeInfo> volumes() {
        return api.get("/volumes").valueStream().map(VolumeInfo::of).toList();
    }

    /// Deletes a volume with all its files.
    ///
    /// @return whether it existed
    public boolean removeVolume(String id) {
        return api.delete("/volumes/" + Api.encode(id));
    }

    /// Aborts calls in progress. Sandboxes keep running.
    @Override
    public void close() {
        api.http().close();
    }
}
