package dev.cay.node.image.oci;

import java.net.InetAddress;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;

/// Settings of registries.
///
/// @param mirrors     by registry, as {@link ImageReference#registry} has it: asked first, in this order, without
///                    credentials
/// @param plainHttp   registries without TLS, as host and port
/// @param named       other registries that may have any address
/// @param connect     limit for a connection
/// @param answer      limit for the start of an answer
/// @param idle        limit for the time between bytes of an answer
/// @param patience    how long an unreachable registry is retried before a pull fails
/// @param whole       limit for a whole pull
/// @param parallel    how many layers are downloaded at once
/// @param reach       addresses at which other registries may be
/// @param mirrorsOnly whether only mirrors are asked
public record RegistrySettings(
        Map<String, List<URI>> mirrors,
        Set<String> plainHttp,
        Set<String> named,
        Duration connect,
        Duration answer,
        Duration idle,
        Duration patience,
        Duration whole,
        int parallel,
        Reach reach,
        boolean mirrorsOnly) {
    /// Which addresses may be connected to.
    public interface Reach {
        boolean allows(String host, InetAddress address);
    }

    /// Addresses other than this host itself or its network link.
    private static final Reach ELSEWHERE = (_, address) -> !address.isLoopbackAddress()
            && !address.isLinkLocalAddress()
            && !address.isAnyLocalAddress()
            && !address.isMulticastAddress();

    public static final RegistrySettings DEFAULT = new RegistrySettings(
            Map.of(),
            Set.of(),
            Set.of(),
            Duration.ofSeconds(10),
            Duration.ofSeconds(30),
            Duration.ofSeconds(60),
            Duration.ofMinutes(1),
            Duration.ofHours(2),
            3,
            ELSEWHERE,
            false);

    public RegistrySettings {
        mirrors = Map.copyOf(mirrors);
        plainHttp = Set.copyOf(plainHttp);
        named = Set.copyOf(named);
    }

    public RegistrySettings withMirrors(Map<String, List<URI>> some) {
        return new RegistrySettings(
                some, plainHttp, named, connect, answer, idle, patience, whole, parallel, reach, mirrorsOnly);
    }

    public RegistrySettings withPlainHttp(Set<String> hosts) {
        return new RegistrySettings(
                mirrors, hosts, named, connect, answer, idle, patience, whole, parallel, reach, mirrorsOnly);
    }

    public RegistrySettings withNamed(Set<String> some) {
        return new RegistrySettings(
                mirrors, plainHttp, some, connect, answer, idle, patience, whole, parallel, reach, mirrorsOnly);
    }

    /// Whether the operator names this host and port, so that it may have any address.
    boolean isNamed(String authority) {
        return named.contains(authority) || plainHttp.contains(authority);
    }

    public RegistrySettings withReach(Reach other) {
        return new RegistrySettings(
                mirrors, plainHttp, named, connect, answer, idle, patience, whole, parallel, other, mirrorsOnly);
    }

    public RegistrySettings withMirrorsOnly(boolean only) {
        return new RegistrySettings(
                mirrors, plainHttp, named, connect, answer, idle, patience, whole, parallel, reach, only);
    }

    /// The base address of a registry. Docker's own has its API under another name than its images.
    URI base(String registry) {
        String host = registry.equals(ImageReference.DEFAULT_REGISTRY) ? "registry-1.docker.io" : registry;
        return URI.create((plainHttp.contains(registry) ? "http://" : "https://") + host);
    }
}
