package dev.cay.cli;

import dev.cay.config.CayConfig;
import dev.cay.node.image.oci.RegistrySettings;
import dev.cay.web.Addresses;
import java.net.URI;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/// What the configuration says about registries of container images.
final class Registries {
    private Registries() {}

    static RegistrySettings of(CayConfig.Images config) {
        var mirrors = new HashMap<String, List<URI>>();
        for (String rule : config.mirrors()) {
            String[] parts = rule.split("=", 2);
            mirrors.computeIfAbsent(parts[0], _ -> new ArrayList<>()).add(URI.create(parts[1]));
        }
        var byScheme = config.registries().stream()
                .map(URI::create)
                .collect(Collectors.groupingBy(
                        URI::getScheme, Collectors.mapping(URI::getAuthority, Collectors.toSet())));
        return RegistrySettings.DEFAULT
                .withMirrors(mirrors)
                .withMirrorsOnly(config.mirrorsOnly())
                .withPlainHttp(byScheme.getOrDefault("http", Set.of()))
                .withNamed(byScheme.getOrDefault("https", Set.of()))
                .withReach(Addresses.allowing(List.of())::allow);
    }
}
