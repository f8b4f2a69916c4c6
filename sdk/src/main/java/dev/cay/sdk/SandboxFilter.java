package dev.cay.sdk;

import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/// Selects sandboxes of a list.
///
/// @param metadata selects sandboxes that have all of these entries
public record SandboxFilter(Set<SandboxInfo.State> states, Map<String, String> metadata) {
    public static final SandboxFilter ALL = new SandboxFilter(EnumSet.allOf(SandboxInfo.State.class), Map.of());

    public SandboxFilter {
        states = Set.copyOf(states);
        metadata = Map.copyOf(metadata);
    }

    public SandboxFilter with(String name, String value) {
        var more = new LinkedHashMap<>(metadata);
        more.put(name, value);
        return new SandboxFilter(states, more);
    }

    public SandboxFilter in(SandboxInfo.State state) {
        return new SandboxFilter(Set.of(state), metadata);
    }

    Map<String, String> query() {
        var query = new LinkedHashMap<String, String>();
        query.put(
                "state",
                states.stream()
                        .map(state -> state.name().toLowerCase(Locale.ROOT))
                        .sorted()
                        .collect(Collectors.joining(",")));
        if (!metadata.isEmpty()) {
            query.put(
                    "metadata",
                    metadata.entrySet().stream()
                            .map(entry -> twice(entry.getKey()) + "=" + twice(entry.getValue()))
                            .collect(Collectors.joining("&")));
        }
        return query;
    }

    /// Encodes twice: the server decodes the whole, then each part.
    private static String twice(String text) {
        return Api.encode(Api.encode(text));
    }
}
