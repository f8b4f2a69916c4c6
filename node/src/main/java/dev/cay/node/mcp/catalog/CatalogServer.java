package dev.cay.node.mcp.catalog;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// An entry of the catalog. What its fields mean stands at the top of `catalog/servers.yaml`.
///
/// @param key      what users write in `mcp: {key: {...}}`
/// @param name     what the names of its tools begin with
/// @param source   where its program comes from
/// @param ways     to start it, in the order in which they are preferred
/// @param options  by their names
/// @param anyOf    lists of options, one of which must be given in full
/// @param needs    what its process gets
public record CatalogServer(
        String key,
        String name,
        String title,
        String category,
        List<String> tags,
        List<String> words,
        @Nullable String source,
        List<ServerWay> ways,
        Map<String, Option> options,
        List<List<String>> anyOf,
        Needs needs,
        boolean longLived,
        boolean needsConfigForTools,
        @Nullable OAuth oauth) {
    public CatalogServer {
        tags = List.copyOf(tags);
        words = List.copyOf(words);
        ways = List.copyOf(ways);
        options = Collections.unmodifiableMap(new LinkedHashMap<>(options));
        anyOf = anyOf.stream().map(List::copyOf).toList();
    }

    /// Who may read the value.
    public enum Kind {
        SECRET,
        SETTING
    }

    /// The type of the value.
    public enum Type {
        STRING("a text"),
        INTEGER("a whole number"),
        NUMBER("a number"),
        BOOLEAN("true or false"),
        LIST("a list of texts");

        private final String meaning;

        Type(String meaning) {
            this.meaning = meaning;
        }

        public String meaning() {
            return meaning;
        }

        public String word() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /// An option of a user.
    ///
    /// @param env    the variable that gets the value; null if only templates use it
    /// @param values all allowed values; empty for any
    public record Option(
            String name, Kind kind, Type type, @Nullable String env, List<String> values, boolean required) {
        public Option {
            values = List.copyOf(values);
        }

        public boolean secret() {
            return kind == Kind.SECRET;
        }

        /// Other names under which users may know it: `TAVILY_API_KEY` and `tavilyApiKey` for `apiKey`.
        public Set<String> otherNames() {
            var names = new LinkedHashSet<String>();
            if (env != null) {
                names.add(env);
                names.add(camelCase(env));
            }
            names.remove(name);
            return names;
        }

        private static String camelCase(String variable) {
            var result = new StringBuilder();
            for (String word : variable.toLowerCase(Locale.ROOT).split("_")) {
                boolean first = result.isEmpty() || word.isEmpty();
                result.append(first ? word : Character.toUpperCase(word.charAt(0)) + word.substring(1));
            }
            return result.toString();
        }
    }

    /// The variables and arguments of a process of this server.
    ///
    /// @param env       variables beside those of options, in the order in which they are set
    /// @param arguments arguments of the program of a package or image
    public record Needs(
            Map<String, Template> env,
            List<Template> arguments,
            List<Template> volumes,
            @Nullable Template user,
            Network network) {
        public Needs {
            env = Collections.unmodifiableMap(new LinkedHashMap<>(env));
            arguments = List.copyOf(arguments);
            volumes = List.copyOf(volumes);
        }
    }

    /// @param allow `host:port`; empty for no limit
    public record Network(boolean disabled, List<String> allow) {
        public static final Network OPEN = new Network(false, List.of());

        public Network {
            allow = List.copyOf(allow);
        }
    }

    /// The provider that could issue the value of an option.
    public record OAuth(String provider, String option) {}

    public <T extends ServerLaunch> Optional<T> launch(Class<T> kind) {
        return ways.stream()
                .map(ServerWay::launch)
                .filter(kind::isInstance)
                .map(kind::cast)
                .findFirst();
    }

    /// @param word as {@link ServerWay#word} tells it
    public Optional<ServerWay> way(String word) {
        return ways.stream().filter(way -> way.word().equals(word)).findFirst();
    }

    /// Options whose values are paths, because volumes are made of them.
    public Set<String> pathOptions() {
        return needs.volumes().stream()
                .flatMap(volume -> volume.references().stream())
                .filter(reference -> reference.source() == Template.Source.OPTION)
                .map(Template.Reference::name)
                .collect(Collectors.toSet());
    }

    /// Every variable that this entry can set, in any of its ways.
    Set<String> variables() {
        var names = new LinkedHashSet<String>();
        options.values().forEach(option -> Optional.ofNullable(option.env()).ifPresent(names::add));
        names.addAll(needs.env().keySet());
        return names;
    }
}
