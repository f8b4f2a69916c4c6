package dev.cay.server;

import java.time.OffsetDateTime;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import tools.jackson.databind.JsonNode;

/// Checks JSON against a schema of the API's description, and fails on a keyword that it does not know.
final class JsonCheck {
    private static final Set<String> TEXTS = Set.of("description", "default");

    private final JsonNode document;
    private final boolean strict;
    private final List<String> problems = new ArrayList<>();

    /// @param document with the types that schemas refer to
    /// @param strict   whether a field is wrong that is not described; else null counts as absent, as in requests
    JsonCheck(JsonNode document, boolean strict) {
        this.document = document;
        this.strict = strict;
    }

    /// What is wrong, each with a JSON pointer; empty if nothing is.
    List<String> problems(JsonNode schema, JsonNode value) {
        check(schema, value, "");
        return List.copyOf(problems);
    }

    private void check(JsonNode schema, JsonNode value, String pointer) {
        for (var keyword : schema.properties()) {
            var said = keyword.getValue();
            switch (keyword.getKey()) {
                case "$ref" -> check(document.at(said.stringValue().substring(1)), value, pointer);
                case "type" -> require(isOf(said, value), pointer, "must be %s, not %s", said, value);
                case "enum" ->
                    require(said.values().contains(value), pointer, "must be one of %s, not %s", said, value);
                case "anyOf" -> checkAny(said, value, pointer);
                case "items" -> checkItems(said, value, pointer);
                case "properties" -> checkFields(said, schema, value, pointer);
                case "required" ->
                    said.forEach(name -> require(
                            !value.isObject() || value.has(name.stringValue()), pointer, "has no %s", name, value));
                case "additionalProperties" -> checkOthers(said, schema, value, pointer);
                case "minimum" ->
                    require(
                            !value.isNumber() || value.doubleValue() >= said.doubleValue(),
                            pointer,
                            "must be at least %s, not %s",
                            said,
                            value);
                case "maximum" ->
                    require(
                            !value.isNumber() || value.doubleValue() <= said.doubleValue(),
                            pointer,
                            "must be at most %s, not %s",
                            said,
                            value);
                case "maxItems" ->
                    require(
                            !value.isArray() || value.size() <= said.intValue(),
                            pointer,
                            "has more than %s items",
                            said,
                            value);
                case "format" ->
                    require(!value.isString() || isTime(said, value), pointer, "must be a %s, not %s", said, value);
                default -> require(TEXTS.contains(keyword.getKey()), pointer, "is of a schema with %s", said, value);
            }
        }
    }

    private void require(boolean right, String pointer, String problem, JsonNode said, JsonNode value) {
        if (!right) {
            String shown = value.toString();
            problems.add((pointer.isEmpty() ? "/" : pointer) + " "
                    + problem.formatted(said, shown.length() > 100 ? shown.substring(0, 100) + "..." : shown));
        }
    }

    private static boolean isOf(JsonNode types, JsonNode value) {
        return types.isArray()
                ? types.values().stream().anyMatch(type -> isOf(type.stringValue(), value))
                : isOf(types.stringValue(), value);
    }

    private static boolean isOf(String type, JsonNode value) {
        return switch (type) {
            case "string" -> value.isString();
            case "integer" -> value.isIntegralNumber();
            case "number" -> value.isNumber();
            case "boolean" -> value.isBoolean();
            case "object" -> value.isObject();
            case "array" -> value.isArray();
            case "null" -> value.isNull();
            default -> throw new AssertionError("no type of JSON: " + type);
        };
    }

    private static boolean isTime(JsonNode format, JsonNode value) {
        if (!format.stringValue().equals("date-time")) {
            return false;
        }
        try {
            return OffsetDateTime.parse(value.stringValue()) != null;
        } catch (DateTimeParseException _) {
            return false;
        }
    }

    private void checkAny(JsonNode schemas, JsonNode value, String pointer) {
        var wrong = new ArrayList<String>();
        for (var schema : schemas) {
            var found = new JsonCheck(document, strict).problems(schema, value);
            if (found.isEmpty()) {
                return;
            }
            found.forEach(problem -> wrong.add(pointer + problem));
        }
        problems.addAll(wrong);
    }

    private void checkItems(JsonNode schema, JsonNode value, String pointer) {
        for (int i = 0; value.isArray() && i < value.size(); i++) {
            check(schema, value.get(i), pointer + "/" + i);
        }
    }

    private void checkFields(JsonNode fields, JsonNode schema, JsonNode value, String pointer) {
        var known = new HashSet<String>();
        for (var field : fields.properties()) {
            known.add(field.getKey());
            if (strict ? value.has(field.getKey()) : value.hasNonNull(field.getKey())) {
                check(field.getValue(), value.get(field.getKey()), pointer + "/" + field.getKey());
            }
        }
        if (strict && !schema.has("additionalProperties")) {
            value.propertyNames().stream()
                    .filter(name -> !known.contains(name))
                    .forEach(name -> problems.add(pointer + "/" + name + " is not described"));
        }
    }

    private void checkOthers(JsonNode said, JsonNode schema, JsonNode value, String pointer) {
        if (said.isBoolean()) {
            return;
        }
        var known = schema.path("properties");
        for (var field : value.properties()) {
            if (!known.has(field.getKey())) {
                check(said, field.getValue(), pointer + "/" + field.getKey());
            }
        }
    }
}
