package dev.cay.wire.rest;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.cay.wire.TemplateId;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// All fields of one sandbox. Clients before 2.6 connect with only this.
///
/// @param allowInternetAccess null when it was not set
/// @param keyID               of the API key that it was created with; absent for the operator; an addition of Cay
/// @param paused              absent while it runs; an addition of Cay
@JsonInclude(JsonInclude.Include.NON_NULL)
public record SandboxDetail(
        TemplateId templateID,
        @Nullable String alias,
        String sandboxID,
        String clientID,
        Instant startedAt,
        Instant endAt,
        String envdVersion,
        @Nullable String envdAccessToken,
        @JsonInclude(JsonInclude.Include.ALWAYS) @Nullable Boolean allowInternetAccess,
        String domain,
        int cpuCount,
        int memoryMB,
        int diskSizeMB,
        Map<String, String> metadata,
        String state,
        Network network,
        Lifecycle lifecycle,
        @Nullable String keyID,
        List<SandboxVolumeMount> volumeMounts,
        @Nullable Paused paused) {
    public SandboxDetail {
        metadata = Map.copyOf(metadata);
        volumeMounts = List.copyOf(volumeMounts);
    }

    /// Network settings. Fields that were not set are absent.
    ///
    /// @param inspect an addition of Cay, as is `observe`
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record Network(
            boolean allowPublicTraffic,
            @Nullable List<String> allowOut,
            @Nullable List<String> denyOut,
            @Nullable Proxy egressProxy,
            @Nullable String maskRequestHost,
            @Nullable List<Integer> httpsPorts,
            @Nullable Map<String, List<Rule>> rules,
            @Nullable Boolean inspect,
            @Nullable Boolean observe) {
        /// A proxy without its password.
        @JsonInclude(JsonInclude.Include.NON_NULL)
        public record Proxy(String address, @Nullable String username) {}

        public record Rule(Transform transform) {}

        /// @param redirect an addition of Cay, as is `fill`
        @JsonInclude(JsonInclude.Include.NON_NULL)
        public record Transform(
                Map<String, String> headers,
                @Nullable String redirect,
                @Nullable Fill fill) {
            public Transform {
                headers = Map.copyOf(headers);
            }
        }

        /// @param secrets names of secrets whose placeholders are replaced
        /// @param in      parts of requests: `headers`, `query`, `body`
        public record Fill(List<String> secrets, List<String> in) {
            public Fill {
                secrets = List.copyOf(secrets);
                in = List.copyOf(in);
            }
        }
    }

    /// What happens when the timeout passes.
    public record Lifecycle(boolean autoResume, String onTimeout) {}

    /// What is kept of a paused sandbox.
    ///
    /// @param memory whether its memory is kept
    /// @param reason why not, although it was wanted; else absent
    public record Paused(boolean memory, @Nullable String reason, Durability durability) {}

    /// What a paused sandbox outlives.
    ///
    /// @param state  `frozen`: a crash of Cay, not a reboot; `saved`: both
    /// @param reason why it could not be saved yet; else absent
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record Durability(String state, @Nullable String reason) {}
}
