package dev.cay.sdk;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// The settings of a new sandbox.
///
/// @param template   name or id; null for `base`, or for `mcp-gateway` if there are MCP servers
/// @param timeout    time after which it ends, unless it is extended; null for the server's default
/// @param env        variables of every command
/// @param metadata   labels by which {@link Cay#list} finds it
/// @param egress     what it may reach; null for the default of its team
/// @param ports      access to servers in it
/// @param pauses     whether it is paused with its memory when it times out; otherwise it is killed
/// @param resumes    whether requests resume it while it is paused
/// @param mcp        MCP servers by their catalog names, each with its options; empty for none
/// @param volumes    volumes that are mounted in it; empty for none
public record NewSandbox(
        @Nullable String template,
        @Nullable Duration timeout,
        Map<String, String> env,
        Map<String, String> metadata,
        @Nullable EgressRules egress,
        PortRules ports,
        boolean pauses,
        boolean resumes,
        Map<String, ?> mcp,
        List<VolumeMount> volumes) {
    public NewSandbox {
        env = Map.copyOf(env);
        metadata = Map.copyOf(metadata);
        mcp = Map.copyOf(mcp);
        volumes = List.copyOf(volumes);
        if (timeout != null && !timeout.isPositive()) {
            throw new SandboxException(SandboxException.Kind.INVALID, "timeout must be longer than nothing");
        }
    }

    public static NewSandbox usual() {
        return new NewSandbox(
                null, null, Map.of(), Map.of(), null, PortRules.usual(), false, false, Map.of(), List.of());
    }

    public static NewSandbox of(String template) {
        return new NewSandbox(
                template, null, Map.of(), Map.of(), null, PortRules.usual(), false, false, Map.of(), List.of());
    }

    public NewSandbox livingFor(Duration time) {
        return new NewSandbox(template, time, env, metadata, egress, ports, pauses, resumes, mcp, volumes);
    }

    public NewSandbox withEnv(String name, String value) {
        return new NewSandbox(
                template, timeout, plus(env, name, value), metadata, egress, ports, pauses, resumes, mcp, volumes);
    }

    public NewSandbox withMetadata(String name, String value) {
        return new NewSandbox(
                template, timeout, env, plus(metadata, name, value), egress, ports, pauses, resumes, mcp, volumes);
    }

    public NewSandbox withoutInternet() {
        return withEgress(EgressRules.offline());
    }

    /// Sets what the sandbox may reach.
    public NewSandbox withEgress(EgressRules rules) {
        return new NewSandbox(template, timeout, env, metadata, rules, ports, pauses, resumes, mcp, volumes);
    }

    /// Sets the access to servers in the sandbox.
    public NewSandbox withPorts(PortRules rules) {
        return new NewSandbox(template, timeout, env, metadata, egress, rules, pauses, resumes, mcp, volumes);
    }

    /// The sandbox is paused, not killed, when it times out.
    public NewSandbox pausing() {
        return new NewSandbox(template, timeout, env, metadata, egress, ports, true, resumes, mcp, volumes);
    }

    /// The sandbox is paused when it times out, and the next request resumes it.
    public NewSandbox pausingAndResuming() {
        return new NewSandbox(template, timeout, env, metadata, egress, ports, true, true, mcp, volumes);
    }

    public NewSandbox withMcp(Map<String, ?> servers) {
        return new NewSandbox(template, timeout, env, metadata, egress, ports, pauses, resumes, servers, volumes);
    }

    /// Mounts a volume at an absolute path; the sandbox can write to it.
    public NewSandbox withVolume(String path, Volume volume) {
        return with(new VolumeMount(volume.name(), path, false));
    }

    /// Mounts a volume that the sandbox can only read. E2B's cloud has no such mounts.
    public NewSandbox withReadOnlyVolume(String path, Volume volume) {
        return with(new VolumeMount(volume.name(), path, true));
    }

    private NewSandbox with(VolumeMount mount) {
        var more = new ArrayList<>(volumes);
        more.add(mount);
        return new NewSandbox(template, timeout, env, metadata, egress, ports, pauses, resumes, mcp, more);
    }

    private static Map<String, String> plus(Map<String, String> map, String name, String value) {
        var more = new LinkedHashMap<>(map);
        more.put(name, value);
        return more;
    }

    Map<String, Object> body() {
        var body = new LinkedHashMap<String, Object>();
        body.put("templateID", template != null ? template : mcp.isEmpty() ? "base" : "mcp-gateway");
        if (timeout != null) {
            body.put("timeout", wholeSeconds(timeout));
        }
        if (!env.isEmpty()) {
            body.put("envVars", env);
        }
        if (!metadata.isEmpty()) {
            body.put("metadata", metadata);
        }
        var network = new LinkedHashMap<>(ports.body());
        if (egress != null) {
            body.put("allow_internet_access", egress.internet());
            network.putAll(egress.rules());
        }
        if (!network.isEmpty()) {
            body.put("network", network);
        }
        if (pauses) {
            body.put("autoPause", true);
        }
        if (resumes) {
            body.put("autoResume", Map.of("enabled", true));
        }
        if (!mcp.isEmpty()) {
            // Their names; what they are told is nobody's business but the gateway's.
            body.put("mcp", mcp.keySet().stream().collect(Collectors.toMap(key -> key, _ -> Map.of())));
        }
        if (!volumes.isEmpty()) {
            body.put("volumeMounts", volumes.stream().map(VolumeMount::body).toList());
        }
        return body;
    }

    /// Rounds up to whole seconds.
    static long wholeSeconds(Duration time) {
        return time.plusNanos(999_999_999).toSeconds();
    }

    /// The text leaves out values that may be secret.
    @Override
    public String toString() {
        return "NewSandbox[template=%s, timeout=%s, metadata=%s, env=%s, mcp=%s]"
                .formatted(template, timeout, metadata, env.keySet(), mcp.keySet());
    }
}
