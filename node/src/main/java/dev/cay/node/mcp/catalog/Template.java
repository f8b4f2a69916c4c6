package dev.cay.node.mcp.catalog;

import dev.cay.config.Suggestion;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/// A text with references: `${cfg.OPTION}`, `${env.NAME}` or short `$NAME`, each with filters. Parsed once with the
/// catalog; inserted values are never parsed again, whatever they contain.
public final class Template {
    private static final Pattern PLACE = Pattern.compile("\\$(?:\\$|\\{([^}]*)}|([A-Za-z_][A-Za-z0-9_]*))");
    private static final Pattern NAME = Pattern.compile("[A-Za-z_][A-Za-z0-9_]*");

    /// The source of a value.
    enum Source {
        OPTION,
        VARIABLE
    }

    sealed interface Part {}

    record Literal(String text) implements Part {}

    record Reference(Source source, String name, List<Step> steps) implements Part {
        boolean each() {
            return steps.stream().anyMatch(step -> step.filter == Filter.EACH);
        }

        private Value filtered(Value value) {
            Value result = value;
            for (Step step : steps) {
                result = step.apply(result);
            }
            return result;
        }
    }

    enum Filter {
        MOUNT,
        TARGET,
        EACH,
        FIRST,
        LAST,
        OR;

        String word() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /// @param argument what follows after a colon
    record Step(Filter filter, String argument) {
        private Value apply(Value value) {
            var items = value.items();
            return switch (filter) {
                case MOUNT -> value.map(path -> path + ":" + path);
                case TARGET -> value.map(Step::target);
                case EACH ->
                    new Value(items.stream().filter(item -> !item.isEmpty()).toList(), value.secret());
                case FIRST -> items.isEmpty() ? value : Value.of(items.getFirst(), value.secret());
                case LAST -> items.isEmpty() ? value : Value.of(items.getLast(), value.secret());
                case OR -> value.isEmpty() ? Value.of(argument, false) : value;
            };
        }

        private static String target(String mount) {
            String[] sides = mount.split(":", 3);
            return sides.length > 1 ? sides[1] : mount;
        }
    }

    private final String text;
    private final List<Part> parts;

    private Template(String text, List<Part> parts) {
        this.text = text;
        this.parts = List.copyOf(parts);
    }

    /// Throws an {@link IllegalArgumentException} that says what is wrong, and repeats nothing but names.
    static Template parse(String text) {
        var parts = new ArrayList<Part>();
        var places = PLACE.matcher(text);
        int end = 0;
        while (places.find()) {
            parts.add(new Literal(text.substring(end, places.start())));
            end = places.end();
            if (places.group().equals("$$")) {
                parts.add(new Literal("$"));
            } else {
                String inside = places.group(1);
                parts.add(reference(inside == null ? places.group(2) : inside));
            }
        }
        parts.add(new Literal(text.substring(end)));
        if (text.indexOf("${", end) >= 0) {
            throw new IllegalArgumentException("has a ${ without its }");
        }
        parts.removeIf(part -> part instanceof Literal(String literal) && literal.isEmpty());
        var template = new Template(text, parts);
        if (template.references().stream().filter(Reference::each).count() > 1) {
            throw new IllegalArgumentException("has the filter each more than once");
        }
        return template;
    }

    private static Reference reference(String inside) {
        String[] words = inside.split("\\|", -1);
        boolean option = words[0].startsWith("cfg.");
        String name = option || words[0].startsWith("env.") ? words[0].substring(4) : words[0];
        if (!NAME.matcher(name).matches()) {
            throw new IllegalArgumentException("has a ${...} that names neither cfg.OPTION nor env.NAME");
        }
        var steps = Arrays.stream(words).skip(1).map(Template::step).toList();
        return new Reference(option ? Source.OPTION : Source.VARIABLE, name, steps);
    }

    private static Step step(String word) {
        String name = word.replaceFirst(":.*", "");
        var filter = Stream.of(Filter.values())
                .filter(known -> known.word().equals(name))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException(unknownFilter(name)));
        if ((filter == Filter.OR) != word.contains(":")) {
            throw new IllegalArgumentException("has the filter %s, which takes %s"
                    .formatted(name, filter == Filter.OR ? "a text, like or:none" : "nothing after it"));
        }
        return new Step(filter, word.substring(word.indexOf(':') + 1));
    }

    private static String unknownFilter(String name) {
        var words = Stream.of(Filter.values()).map(Filter::word).toList();
        return "has an unknown filter; "
                + Suggestion.of(name, words)
                        .map(near -> "did you mean " + near + "?")
                        .orElse("there are " + String.join(", ", words));
    }

    List<Reference> references() {
        return parts.stream()
                .flatMap(part -> part instanceof Reference reference ? Stream.of(reference) : Stream.empty())
                .toList();
    }

    /// Whether the first character of the result is the user's choice.
    boolean beginsWithValue() {
        return !parts.isEmpty() && parts.getFirst() instanceof Reference;
    }

    /// The value of the template: one item, unless `each` spreads a list.
    Value evaluate(Function<Reference, Value> values) {
        var results = List.of("");
        boolean secret = false;
        for (Part part : parts) {
            var added = switch (part) {
                case Literal(String literal) -> Value.of(literal, false);
                case Reference reference -> put(reference, values);
            };
            secret |= added.secret();
            results = results.stream()
                    .flatMap(begin -> added.items().stream().map(begin::concat))
                    .toList();
        }
        return new Value(results, secret);
    }

    private static Value put(Reference reference, Function<Reference, Value> values) {
        var value = reference.filtered(values.apply(reference));
        boolean secret = value.secret() && !value.isEmpty();
        return reference.each() ? new Value(value.items(), secret) : Value.of(value.text(), secret);
    }

    /// The text in the catalog.
    public String text() {
        return text;
    }

    /// An operator's template may hold a credential.
    @Override
    public String toString() {
        return "Template" + references().stream().map(Reference::name).toList();
    }
}
