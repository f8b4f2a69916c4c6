package dev.cay.node.image.oci;

import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;

/// What an operator decides about registries.
///
/// @param mirrors   by registry, as {@link ImageReference#registry} has it: asked first, in this order, without
///                  credentials
/// @param plainHttp registries that are spoken to without TLS
/// @param connect   limit for a connection
/// @param answer    limit for the begin of an answer
/// @param idle      limit for the time between bytes of an answer
/// @param patience  how long a registry that does not answer is tried again before a pull fails
/// @param whole     limit for a whole pull
/// @param parallel  how many layers are fetched at once
public record RegistrySettings(
        Map<String, List<URI>> mirrors,
        Set<String> plainHttp,
        Duration connect,
        Duration answer,
        Duration idle,
        Duration patience,
        Duration whole,
        int parallel) {
    public static final RegistrySettings DEFAULT = new RegistrySettings(
            Map.of(),
            Set.of(),
            Duration.ofSeconds(10),
            Duration.ofSeconds(30),
            Duration.ofSeconds(60),
            Duration.ofMinutes(1),
            Duration.ofHours(2),
            3);

    public RegistrySettings {
        mirrors = Map.copyOf(mirrors);
        plainHttp = Set.copyOf(plainHttp);
    }

    public RegistrySettings withMirrors(Map<String, List<URI>> some) {
        return new RegistrySettings(some, plainHttp, connect, answer, idle, patience, whole, parallel);
    }

    public RegistrySettings withPlainHttp(Set<String> hosts) {
        return new RegistrySettings(mirrors, hosts, connect, answer, idle, patience, whole, parallel);
    }

    public RegistrySettings withLimits(Duration answer, Duration idle, Duration patience) {
        return new RegistrySettings(mirrors, plainHttp, connect, answer, idle, patience, whole, parallel);
    }

    /// Where a registry is. Docker's own has its API under another name than its images.
    URI base(String registry) {
        String host = registry.equals(ImageReference.DEFAULT_REGISTRY) ? "registry-1.docker.io" : registry;
        return URI.create((plainHttp.contains(registry) ? "http://" : "https://") + host);
    }
}
