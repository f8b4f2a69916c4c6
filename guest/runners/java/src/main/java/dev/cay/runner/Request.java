package dev.cay.runner;

import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// What the node asks for.
sealed interface Request {
    record Setup(
            long number, @Nullable String directory, Map<String, String> properties, List<String> unset, String seed)
            implements Request {}

    record Run(long id, String code, Map<String, String> properties) implements Request {}

    /// What cannot be understood is nothing: a node that was killed may have written half a line.
    static @Nullable Request parse(String line) {
        try {
            var fields = Json.object(line);
            return switch (text(fields.get("op"))) {
                case "setup" ->
                    new Setup(
                            number(fields.get("n")),
                            fields.get("cwd") instanceof String directory ? directory : null,
                            strings(fields.get("env")),
                            names(fields.get("unset")),
                            text(fields.get("seed")));
                case "run" -> new Run(number(fields.get("id")), text(fields.get("code")), strings(fields.get("env")));
                default -> null;
            };
        } catch (IllegalArgumentException e) {
            return null;
        }
    }

    private static String text(@Nullable Object value) {
        return value instanceof String text ? text : "";
    }

    private static long number(@Nullable Object value) {
        return value instanceof Number number ? number.longValue() : 0;
    }

    /// A property must have a name; the empty one would be refused by the JDK in the middle of a cell.
    private static Map<String, String> strings(@Nullable Object value) {
        if (!(value instanceof Map<?, ?> map)) {
            return Map.of();
        }
        return map.entrySet().stream()
                .filter(entry -> entry.getKey() instanceof String name && !name.isEmpty())
                .filter(entry -> entry.getValue() instanceof String)
                .collect(Collectors.toMap(entry -> (String) entry.getKey(), entry -> (String) entry.getValue()));
    }

    private static List<String> names(@Nullable Object value) {
        if (!(value instanceof List<?> list)) {
            return List.of();
        }
        return list.stream()
                .filter(name -> name instanceof String text && !text.isEmpty())
                .map(name -> (String) name)
                .toList();
    }
}
