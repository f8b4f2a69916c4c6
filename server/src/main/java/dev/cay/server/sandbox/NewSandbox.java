package dev.cay.server.sandbox;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.cay.server.network.SandboxNetwork;
import dev.cay.server.request.RequestBody;
import dev.cay.server.volume.MountWish;
import dev.cay.server.volume.WantedVolume;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/// The checked body of a create.
record NewSandbox(
        String template,
        Duration timeout,
        boolean secure,
        Map<String, String> metadata,
        Map<String, String> environment,
        SandboxNetwork network,
        Lifecycle lifecycle,
        @JsonInclude(JsonInclude.Include.NON_EMPTY) List<WantedVolume> volumes) {
    private static final int METADATA_BYTES = 64 * 1024;
    /// The kernel refuses a longer `NAME=value`.
    private static final int VARIABLE_BYTES = 128 * 1024 - 1;

    private static final int ENVIRONMENT_BYTES = 512 * 1024;

    NewSandbox {
        metadata = Map.copyOf(metadata);
        environment = Map.copyOf(environment);
        volumes = List.copyOf(volumes);
    }

    /// The differences of the two create routes.
    ///
    /// @param alwaysSecure the newer route has no `secure` field
    record Rules(Duration timeout, Duration maxTimeout, boolean alwaysSecure) {}

    /// Finds the volumes that a client names.
    interface Volumes {
        List<WantedVolume> require(List<MountWish> wishes);
    }

    /// @param network the network of the body
    static NewSandbox read(RequestBody body, Rules rules, SandboxNetwork network, Volumes volumes) {
        String template = body.text("templateID");
        if (template == null || template.isBlank()) {
            throw RequestBody.invalid("'templateID' is required: the id or name of a template, for example \"base\"");
        }
        boolean secure = rules.alwaysSecure() || Boolean.TRUE.equals(body.bool("secure"));
        if (!network.allowPublicTraffic() && !secure) {
            throw RequestBody.invalid("'network.allowPublicTraffic' false requires 'secure' true");
        }
        var timeout = body.timeout(rules.timeout(), rules.maxTimeout());
        return new NewSandbox(
                template,
                timeout,
                secure,
                metadata(body),
                environment(body),
                network,
                lifecycle(body, timeout),
                volumes.require(MountWish.read(body)));
    }

    /// The lifecycle of the body. A sandbox with auto-resume lives at least five minutes after a resume, whatever its
    /// first timeout was.
    private static Lifecycle lifecycle(RequestBody body, Duration timeout) {
        boolean pause = Boolean.TRUE.equals(body.bool("autoPause"));
        boolean keepMemory = !Boolean.FALSE.equals(body.bool("autoPauseMemory"));
        boolean resume = Boolean.TRUE.equals(body.object("autoResume").bool("enabled"));
        if (!keepMemory && !pause) {
            throw RequestBody.invalid("'autoPauseMemory' false makes sense only with 'autoPause' true");
        }
        if (!keepMemory && resume) {
            throw RequestBody.invalid(
                    "'autoResume.enabled' true needs the memory: leave 'autoPauseMemory' away or make it true");
        }
        long seconds = Math.max(Lifecycle.LEAST_RESUME.toSeconds(), timeout.toSeconds());
        return new Lifecycle(pause, keepMemory, resume, seconds);
    }

    private static Map<String, String> metadata(RequestBody body) {
        var metadata = body.map("metadata");
        if (bytes(metadata) > METADATA_BYTES) {
            throw RequestBody.invalid("'metadata' is larger than %d bytes".formatted(METADATA_BYTES));
        }
        return metadata;
    }

    private static Map<String, String> environment(RequestBody body) {
        var environment = body.map("envVars");
        environment.forEach((name, value) -> {
            if (name.isEmpty() || name.indexOf('=') >= 0 || name.indexOf('\0') >= 0) {
                throw RequestBody.invalid(
                        "'envVars' has a variable named '%s': a name may not be empty or have '=' or NUL"
                                .formatted(name.replace("\0", "\\0")));
            }
            if (value.indexOf('\0') >= 0) {
                throw RequestBody.invalid("'envVars.%s' has a NUL character in its value".formatted(name));
            }
            if (bytes(Map.of(name, value)) >= VARIABLE_BYTES) {
                throw RequestBody.invalid("'envVars.%s' is larger than %d bytes".formatted(name, VARIABLE_BYTES));
            }
        });
        if (bytes(environment) > ENVIRONMENT_BYTES) {
            throw RequestBody.invalid("'envVars' is larger than %d bytes".formatted(ENVIRONMENT_BYTES));
        }
        return environment;
    }

    private static long bytes(Map<String, String> map) {
        return map.entrySet().stream()
                .mapToLong(entry -> entry.getKey().getBytes(StandardCharsets.UTF_8).length
                        + entry.getValue().getBytes(StandardCharsets.UTF_8).length)
                .sum();
    }
}
