package dev.cay.node.mcp.catalog;

import dev.cay.config.Suggestion;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/// Reads an item of section `mcp.interceptors`.
final class InterceptionFields {
    private static final Pattern WHEN = Pattern.compile("before|after");
    private static final Duration USUAL = Duration.ofSeconds(10);
    private static final Duration SHORTEST = Duration.ofSeconds(1);
    private static final Duration LONGEST = Duration.ofMinutes(1);

    private InterceptionFields() {}

    /// Empty if something is wrong with it.
    ///
    /// @param place where it stands, without the file
    /// @param known keys of all servers
    static Optional<Interception> read(String place, Fields item, Supplier<Set<String>> known) {
        String when = item.requireText("when", WHEN, "before or after");
        var way = way(item);
        var servers = patterns(item, "servers");
        checkServers(item, servers, known);
        var tools = patterns(item, "tools");
        var timeout = item.duration("timeout", SHORTEST, LONGEST).orElse(USUAL);
        item.end();
        return way.map(found -> new Interception(
                place,
                when.equals("after") ? Interception.When.AFTER : Interception.When.BEFORE,
                found,
                servers,
                tools,
                timeout));
    }

    private static Optional<Interception.Way> way(Fields item) {
        if (item.has("exec") == item.has("http")) {
            item.problem("must hold one of exec and http");
            return Optional.empty();
        }
        return item.has("exec") ? program(item) : web(item);
    }

    private static Optional<Interception.Way> program(Fields item) {
        var command = item.texts("exec");
        boolean good = !command.isEmpty()
                && !command.getFirst().isBlank()
                && !command.getFirst().endsWith("/")
                && command.stream().noneMatch(word -> word.indexOf('\0') >= 0);
        if (!good) {
            item.problem("exec", "must be a list that begins with a program, like [/opt/check, --strict]");
            return Optional.empty();
        }
        return Optional.of(new Interception.Program(command));
    }

    private static Optional<Interception.Way> web(Fields item) {
        var url = item.text("http").flatMap(InterceptionFields::url);
        if (url.isEmpty()) {
            item.problem("http", "must be an address like http://127.0.0.1:8000/check, without a user in it");
        }
        return url.map(Interception.Web::new);
    }

    private static Optional<URI> url(String text) {
        try {
            var url = URI.create(text);
            boolean good = List.of("http", "https").contains(String.valueOf(url.getScheme()))
                    && url.getHost() != null
                    && url.getRawUserInfo() == null
                    && url.getRawFragment() == null;
            return good ? Optional.of(url) : Optional.empty();
        } catch (IllegalArgumentException _) {
            return Optional.empty();
        }
    }

    /// Refuses an empty list, which most likely means all.
    private static List<String> patterns(Fields item, String name) {
        var patterns = item.texts(name);
        if (item.has(name) && patterns.isEmpty()) {
            item.problem(name, "is empty; leave it out for all");
        }
        return patterns;
    }

    /// Refuses unknown servers: a typo would let calls pass without a check.
    private static void checkServers(Fields item, List<String> servers, Supplier<Set<String>> known) {
        var keys = known.get();
        Stream.iterate(0, index -> index + 1).limit(servers.size()).forEach(index -> {
            String server = servers.get(index);
            if (!server.contains("*") && !server.startsWith("github/") && !keys.contains(server)) {
                item.problem(
                        "servers[%d]".formatted(index),
                        "is not in the catalog; "
                                + Suggestion.of(server, keys)
                                        .map(near -> "did you mean " + near + "?")
                                        .orElse("`cay mcp catalog list` shows what is"));
            }
        });
    }
}
