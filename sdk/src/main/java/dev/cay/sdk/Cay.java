package dev.cay.sdk;

import java.time.Duration;
import java.util.List;
import java.util.Map;

/// Makes sandboxes and finds those that were made. One is enough for a program, and any number of threads.
///
/// {@snippet file = "Hello.java" region = "hello"}
public final class Cay implements AutoCloseable {
    private final Api api;

    private Cay(Settings settings) {
        this.api = new Api(settings, new Http(settings.certificates()));
    }

    /// With what `cay env` exports.
    public static Cay fromEnvironment() {
        return new Cay(Settings.fromEnvironment());
    }

    public static Cay with(Settings settings) {
        return new Cay(settings);
    }

    /// From the template `base`.
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

    /// A sandbox that is there; a paused one is resumed. Closing what is returned leaves it running.
    public Sandbox connect(String id) {
        return connect(id, Map.of());
    }

    /// @param timeout it lives at least so long from now on
    public Sandbox connect(String id, Duration timeout) {
        return connect(id, Map.of("timeout", NewSandbox.wholeSeconds(timeout)));
    }

    private Sandbox connect(String id, Map<String, ?> body) {
        return Sandbox.of(api, api.post("/v2/sandboxes/%s/connect".formatted(Api.encode(id)), body), false);
    }

    public SandboxInfo info(String id) {
        return SandboxInfo.of(api.get("/sandboxes/" + Api.encode(id)));
    }

    /// All that run or are paused, newest first.
    public List<SandboxInfo> list() {
        return list(SandboxFilter.ALL);
    }

    public List<SandboxInfo> list(SandboxFilter filter) {
        return api.list("/v2/sandboxes", filter.query()).stream()
                .map(SandboxInfo::of)
                .toList();
    }

    /// Whether there was one.
    public boolean kill(String id) {
        return api.delete("/sandboxes/" + Api.encode(id));
    }

    /// Removes a snapshot. Whether there was one.
    public boolean removeSnapshot(String snapshot) {
        return api.delete("/templates/" + Api.encode(snapshot));
    }

    /// Names of snapshots, of all sandboxes; each is a template for {@link #create(String)}.
    public List<String> snapshots() {
        return api.list("/snapshots", Map.of()).stream()
                .map(Sandbox::snapshotId)
                .toList();
    }

    /// The team's secrets.
    public Secrets secrets() {
        return new Secrets(api);
    }

    /// Makes a volume: files that outlive sandboxes.
    ///
    /// @param name letters, digits, `-` and `_`; no other volume of the team has it
    public Volume createVolume(String name) {
        return Volume.of(api, api.post("/volumes", Map.of("name", name)));
    }

    /// @param sizeMB how much it may hold; E2B's own cloud does not know this
    public Volume createVolume(String name, int sizeMB) {
        return Volume.of(api, api.post("/volumes", Map.of("name", name, "sizeMB", sizeMB)));
    }

    /// A volume that is there.
    public Volume volume(String id) {
        return Volume.of(api, api.get("/volumes/" + Api.encode(id)));
    }

    /// All volumes of the team.
    public List<VolumeInfo> volumes() {
        return api.get("/volumes").valueStream().map(VolumeInfo::of).toList();
    }

    /// Removes a volume with all files in it. Whether there was one.
    public boolean removeVolume(String id) {
        return api.delete("/volumes/" + Api.encode(id));
    }

    /// Ends what is under way; sandboxes live on.
    @Override
    public void close() {
        api.http().close();
    }
}
