package dev.cay.server.quota;

import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// Limits of a team, or of one key; null where there is no limit.
///
/// @param sandboxes           that run at once
/// @param vcpus               of all that run
/// @param memoryMB            of all that run
/// @param diskMB              of sandboxes, running or paused, of snapshots and volumes in the pool
/// @param builds              concurrent builds
/// @param createsPerSecond    sandboxes created or forked
/// @param apiCallsPer30s      requests to the API
/// @param operationsPerMinute requests to sandboxes
public record Limits(
        @Nullable Integer sandboxes,
        @Nullable Integer vcpus,
        @Nullable Integer memoryMB,
        @Nullable Integer diskMB,
        @Nullable Integer builds,
        @Nullable Integer createsPerSecond,
        @Nullable Integer apiCallsPer30s,
        @Nullable Integer operationsPerMinute) {

    public static final Limits NONE = new Limits(null, null, null, null, null, null, null, null);

    /// The published limits of E2B's two plans; it publishes none of vCPUs, memory, disk and builds of a team.
    private static final Limits HOBBY = new Limits(20, null, null, null, 20, 1, 20_000, 40_000);

    private static final Limits PRO = new Limits(100, null, null, null, 20, 5, 20_000, 40_000);

    /// The names under which limits are set together.
    public static Optional<Limits> profile(String name) {
        return switch (name.toLowerCase(Locale.ROOT)) {
            case "none" -> Optional.of(NONE);
            case "hobby" -> Optional.of(HOBBY);
            case "pro" -> Optional.of(PRO);
            default -> Optional.empty();
        };
    }

    /// The name under which exactly these limits are set together; `custom` if there is none.
    public String profileName() {
        return Stream.of("none", "hobby", "pro")
                .filter(name -> profile(name).filter(this::equals).isPresent())
                .findFirst()
                .orElse("custom");
    }

    /// Whether there is a limit for which running sandboxes must be counted.
    public boolean countsSandboxes() {
        return sandboxes != null || vcpus != null || memoryMB != null;
    }

    /// Whether requests have to be counted.
    boolean countsRequests() {
        return createsPerSecond != null || apiCallsPer30s != null || operationsPerMinute != null;
    }

    Limits withOperationsPerMinute(int most) {
        return new Limits(sandboxes, vcpus, memoryMB, diskMB, builds, createsPerSecond, apiCallsPer30s, most);
    }

    /// The limits by the names of the API, in its order; null for no limit.
    public Map<String, @Nullable Integer> values() {
        var values = new LinkedHashMap<String, @Nullable Integer>();
        values.put("sandboxes", sandboxes);
        values.put("vcpus", vcpus);
        values.put("memoryMB", memoryMB);
        values.put("diskMB", diskMB);
        values.put("builds", builds);
        values.put("createsPerSecond", createsPerSecond);
        values.put("apiCallsPer30s", apiCallsPer30s);
        values.put("operationsPerMinute", operationsPerMinute);
        return values;
    }

    public static Limits of(Map<String, @Nullable Integer> values) {
        return new Limits(
                values.get("sandboxes"),
                values.get("vcpus"),
                values.get("memoryMB"),
                values.get("diskMB"),
                values.get("builds"),
                values.get("createsPerSecond"),
                values.get("apiCallsPer30s"),
                values.get("operationsPerMinute"));
    }
}
