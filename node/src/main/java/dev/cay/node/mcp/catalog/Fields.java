package dev.cay.node.mcp.catalog;

import dev.cay.config.ConfigValue;
import dev.cay.config.Suggestion;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/// A map in an operator's file. The reader asks for each field by name; {@link #end} reports fields that were never
/// asked for. Problems are collected, so that all are reported at once, and never repeat a value.
final class Fields {
    static final Pattern VARIABLE = Pattern.compile("[A-Za-z_][A-Za-z0-9_]*");

    private final String path;
    private final Map<String, JsonNode> nodes = new LinkedHashMap<>();
    private final Set<String> asked = new LinkedHashSet<>();
    private final List<String> problems;

    /// @param path     file and place in it, as the writer would name them
    /// @param problems collects sentences
    Fields(String path, JsonNode node, List<String> problems) {
        this.path = path;
        this.problems = problems;
        if (node.isObject()) {
            node.properties().forEach(field -> nodes.put(field.getKey(), field.getValue()));
        } else if (!node.isNull() && !node.isMissingNode()) {
            problem("must hold lines of the form `name: value`");
        }
    }

    private String at(String name) {
        return path.endsWith(": ") ? path + name : path + "." + name;
    }

    void problem(String sentence) {
        problems.add((path.endsWith(": ") ? path : path + " ") + sentence);
    }

    void problem(String field, String sentence) {
        problems.add(at(field) + " " + sentence);
    }

    boolean has(String name) {
        return take(name) != null;
    }

    private @Nullable JsonNode take(String name) {
        asked.add(name);
        JsonNode node = nodes.get(name);
        return node == null || node.isNull() ? null : node;
    }

    Optional<String> text(String name) {
        JsonNode node = take(name);
        if (node == null) {
            return Optional.empty();
        }
        if (!node.isString()) {
            problem(name, node.isContainer() ? "must be a text" : "must be a text; put it in quotes");
            return Optional.empty();
        }
        return Optional.of(node.stringValue());
    }

    /// @param form pattern of the value, described by `expected`
    Optional<String> text(String name, Pattern form, String expected) {
        var text = text(name);
        if (text.isPresent() && !form.matcher(text.get()).matches()) {
            problem(name, "must be " + expected);
            return Optional.empty();
        }
        return text;
    }

    /// A stand-in if it is missing, as the problem is noted.
    String requireText(String name, Pattern form, String expected) {
        if (!has(name)) {
            problem(name, "is missing; it must be " + expected);
        }
        return text(name, form, expected).orElse("");
    }

    boolean flag(String name) {
        JsonNode node = take(name);
        if (node != null && !node.isBoolean()) {
            problem(name, "must be true or false");
        }
        return node != null && node.isBoolean() && node.booleanValue();
    }

    List<String> texts(String name) {
        JsonNode node = take(name);
        return node == null ? List.of() : texts(name, node);
    }

    private List<String> texts(String name, JsonNode node) {
        var texts = new ArrayList<String>();
        if (!node.isArray()) {
            problem(name, "must be a list of texts");
            return texts;
        }
        for (JsonNode item : node) {
            if (item.isString()) {
                texts.add(item.stringValue());
            } else {
                problem(name, "must be a list of texts; put numbers and the like in quotes");
            }
        }
        return texts;
    }

    List<List<String>> listsOfTexts(String name) {
        JsonNode node = take(name);
        if (node == null) {
            return List.of();
        }
        if (!node.isArray()) {
            problem(name, "must be a list of lists");
        }
        return node.valueStream().map(list -> texts(name, list)).toList();
    }

    Optional<Template> template(String name) {
        return text(name).flatMap(text -> template(name, text));
    }

    List<Template> templates(String name) {
        return texts(name).stream()
                .flatMap(text -> template(name, text).stream())
                .toList();
    }

    /// The templates in the order of the file.
    ///
    /// @param form pattern of names, described by `expected`
    Map<String, Template> templateMap(String name, Pattern form, String expected) {
        var templates = new LinkedHashMap<String, Template>();
        section(name).ifPresent(section -> {
            for (String each : section.names()) {
                if (!form.matcher(each).matches()) {
                    section.problem(each, "is not " + expected);
                }
                section.template(each).ifPresent(template -> templates.put(each, template));
            }
        });
        return templates;
    }

    /// Templates by the names of variables, in the order of the file.
    Map<String, Template> variables(String name) {
        return templateMap(name, VARIABLE, "the name of a variable");
    }

    private Optional<Template> template(String name, String text) {
        try {
            return Optional.of(Template.parse(text));
        } catch (IllegalArgumentException e) {
            problem(name, String.valueOf(e.getMessage()));
            return Optional.empty();
        }
    }

    /// Whether it is a plain word instead of a section.
    boolean isText(String name) {
        JsonNode node = take(name);
        return node != null && node.isString();
    }

    Optional<Fields> section(String name) {
        return Optional.ofNullable(take(name)).map(node -> new Fields(at(name), node, problems));
    }

    /// The items of a list, each a map.
    List<Fields> sections(String name) {
        JsonNode node = take(name);
        if (node == null) {
            return List.of();
        }
        if (!node.isArray()) {
            problem(name, "must be a list");
            return List.of();
        }
        var sections = new ArrayList<Fields>();
        for (JsonNode item : node) {
            sections.add(new Fields("%s[%d]".formatted(at(name), sections.size()), item, problems));
        }
        return sections;
    }

    /// A duration as everywhere in the configuration: `90s`, `5m`; a number means seconds.
    Optional<Duration> duration(String name, Duration least, Duration most) {
        JsonNode node = take(name);
        if (node == null) {
            return Optional.empty();
        }
        try {
            return Optional.of(ConfigValue.duration(least, most).parse(node.isContainer() ? "" : node.asString()));
        } catch (IllegalArgumentException e) {
            problem(name, "must be " + e.getMessage());
            return Optional.empty();
        }
    }

    /// The names of its fields, where the operator chooses them.
    List<String> names() {
        return List.copyOf(nodes.keySet());
    }

    void end() {
        for (String name : nodes.keySet()) {
            if (!asked.contains(name)) {
                problem(
                        name,
                        "is not a field; "
                                + Suggestion.of(name, asked)
                                        .map(near -> "did you mean " + near + "?")
                                        .orElse("there are " + String.join(", ", asked)));
            }
        }
    }
}
