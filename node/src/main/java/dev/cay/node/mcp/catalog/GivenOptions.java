package dev.cay.node.mcp.catalog;

import dev.cay.config.Suggestion;
import dev.cay.node.mcp.catalog.CatalogServer.Option;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import tools.jackson.databind.JsonNode;

/// Checks a user's options for one server. Messages name options, never their values.
final class GivenOptions {
    /// Linux takes no variable and no argument of 128 KiB or more.
    static final int LONGEST = 120_000;

    private static final int MOST_ITEMS = 1000;
    private static final Pattern PLAIN = Pattern.compile("[A-Za-z0-9_.-]{1,64}");
    private static final Pattern SHORT = Pattern.compile("[A-Za-z0-9_.-]{1,24}");
    private static final Pattern WHOLE = Pattern.compile("-?[0-9]{1,18}");
    private static final Pattern NUMBER = Pattern.compile("-?[0-9]{1,18}(\\.[0-9]{1,18})?([eE][+-]?[0-9]{1,3})?");

    private final CatalogServer server;
    private final Map<String, Value> values = new LinkedHashMap<>();
    private final Set<String> seen = new LinkedHashSet<>();
    private final List<String> problems = new ArrayList<>();
    private final List<String> warnings = new ArrayList<>();

    private GivenOptions(CatalogServer server) {
        this.server = server;
    }

    /// Throws one exception that names all that is missing or wrong.
    static GivenOptions read(CatalogServer server, JsonNode given) {
        var options = new GivenOptions(server);
        if (given.isObject()) {
            given.properties().forEach(field -> options.take(field.getKey(), field.getValue()));
        } else if (!given.isNull() && !given.isMissingNode()) {
            throw new CayException(
                    ErrorKind.INVALID_ARGUMENT, "mcp.%s must be an object of options, like {}".formatted(server.key()));
        }
        options.requireAll();
        return options;
    }

    Value value(String option) {
        return values.getOrDefault(option, Value.NOTHING);
    }

    List<String> warnings() {
        return warnings;
    }

    private String path(String option) {
        return "mcp.%s.%s".formatted(server.key(), option);
    }

    private void take(String name, JsonNode node) {
        var option = find(name);
        if (option.isEmpty()) {
            warnings.add(unknown(name));
            return;
        }
        var known = option.get();
        if (node.isNull()) {
            return;
        }
        var problem = problemOf(known, node);
        if (!seen.add(known.name())) {
            problems.add("%s is given twice, also as %s; keep one".formatted(path(known.name()), name));
        } else if (problem.isPresent()) {
            problems.add(path(known.name()) + " " + problem.get());
        } else {
            values.put(known.name(), new Value(items(known, node).orElseThrow(), known.secret()));
        }
    }

    private Optional<Option> find(String name) {
        var direct = server.options().get(name);
        return direct != null
                ? Optional.of(direct)
                : server.options().values().stream()
                        .filter(option -> option.otherNames().contains(name))
                        .findFirst();
    }

    /// A name that is no name may be a credential in the wrong place.
    private String unknown(String name) {
        var names = new LinkedHashSet<>(server.options().keySet());
        server.options().values().forEach(option -> names.addAll(option.otherNames()));
        var near = PLAIN.matcher(name).matches() ? Suggestion.of(name, names) : Optional.<String>empty();
        boolean tellable = near.isPresent() || SHORT.matcher(name).matches();
        return "%s is no option of %s and was ignored; %s"
                .formatted(
                        tellable ? path(name) : "a name in mcp." + server.key(),
                        server.key(),
                        near.map(word -> "did you mean " + word + "?")
                                .orElse("`cay mcp catalog show %s` lists what there is".formatted(server.key())));
    }

    private static Optional<String> problemOf(Option option, JsonNode node) {
        var items = items(option, node);
        if (items.isEmpty()) {
            return Optional.of("must be " + option.type().meaning());
        }
        for (String item : items.get()) {
            if (item.indexOf('\0') >= 0) {
                return Optional.of("has a NUL character, which no program can be given");
            }
            if (item.getBytes(StandardCharsets.UTF_8).length > LONGEST) {
                return Optional.of("is longer than %d bytes".formatted(LONGEST));
            }
            boolean allowed = option.values().isEmpty() || option.values().contains(item);
            if (!allowed && !item.isEmpty()) {
                return Optional.of("must be one of " + String.join(", ", option.values()));
            }
        }
        return Optional.empty();
    }

    /// Numbers may come as texts and the other way around, as both become text anyway; empty if it does not fit.
    private static Optional<List<String>> items(Option option, JsonNode node) {
        if (option.type() == CatalogServer.Type.LIST) {
            boolean plain = node.isArray()
                    && node.size() <= MOST_ITEMS
                    && node.valueStream().allMatch(JsonNode::isString);
            return plain
                    ? Optional.of(node.valueStream().map(JsonNode::stringValue).toList())
                    : Optional.empty();
        }
        if (node.isContainer()) {
            return Optional.empty();
        }
        String text = node.asString();
        boolean fits = switch (option.type()) {
            case INTEGER -> WHOLE.matcher(text).matches();
            case NUMBER -> NUMBER.matcher(text).matches();
            case BOOLEAN -> text.equals("true") || text.equals("false");
            case STRING, LIST -> true;
        };
        return fits || text.isEmpty() ? Optional.of(List.of(text)) : Optional.empty();
    }

    /// Whether a required option is missing. An empty secret is missing. An empty setting is a choice, because the
    /// clients' types require settings that a server can do without. A refused value is not reported as missing,
    /// too.
    private boolean isMissing(Option option) {
        return !seen.contains(option.name()) || (option.secret() && isEmpty(option));
    }

    private boolean isEmpty(Option option) {
        var value = values.get(option.name());
        return value != null && value.isEmpty();
    }

    private void requireAll() {
        var missing = server.options().values().stream()
                .filter(option -> option.required() && isMissing(option))
                .map(option -> path(option.name()))
                .collect(Collectors.toCollection(ArrayList::new));
        if (!server.anyOf().isEmpty() && server.anyOf().stream().noneMatch(this::isComplete)) {
            missing.add(server.anyOf().stream()
                    .map(group -> group.stream().map(this::path).collect(Collectors.joining(" and ")))
                    .collect(Collectors.joining(" or ")));
        }
        if (!missing.isEmpty()) {
            problems.add("missing: " + String.join(", ", missing));
        }
        if (!problems.isEmpty()) {
            problems.addAll(warnings);
            throw new CayException(ErrorKind.INVALID_ARGUMENT, String.join("\n", problems));
        }
    }

    private boolean isComplete(List<String> group) {
        return group.stream()
                .map(name -> Objects.requireNonNull(server.options().get(name)))
                .noneMatch(option -> isMissing(option) || isEmpty(option));
    }
}
