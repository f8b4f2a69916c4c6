package dev.cay.server.api;

import dev.cay.http.Json;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// Reads types in the notation of the description's files, and writes them as JSON schemas.
final class TypeText {
    private static final String SCHEMAS = "#/components/schemas/";
    private static final String OR_NULL = " or null";

    private final String type;
    private final boolean nullable;
    private final @Nullable String about;

    private TypeText(String text) {
        int comma = text.indexOf(", ");
        String before = comma < 0 ? text : text.substring(0, comma);
        nullable = before.endsWith(OR_NULL);
        type = nullable ? before.substring(0, before.length() - OR_NULL.length()) : before;
        about = comma < 0 ? null : text.substring(comma + 2);
    }

    /// The JSON schema of a type. One that is no text is a schema already, or an object with `fields`.
    static ObjectNode schema(JsonNode type) {
        if (type.isString()) {
            return new TypeText(type.stringValue()).schema();
        }
        if (!type.isObject()) {
            throw new IllegalStateException("a type must be text or an object, not " + type);
        }
        return type.has("fields") ? object(type) : ((ObjectNode) type).deepCopy();
    }

    /// A text that must be there.
    static String text(JsonNode node, String field) {
        var value = node.get(field);
        if (value == null || !value.isString()) {
            throw new IllegalStateException("'%s' is missing in %s".formatted(field, node));
        }
        return value.stringValue();
    }

    /// What stands after the comma.
    static @Nullable String about(String text) {
        return new TypeText(text).about;
    }

    /// What stands before the comma.
    static String name(String text) {
        return new TypeText(text).type;
    }

    /// Whether a field or parameter may be absent: its name ends with a question mark.
    static boolean isOptional(String name) {
        return name.endsWith("?");
    }

    static String bare(String name) {
        return isOptional(name) ? name.substring(0, name.length() - 1) : name;
    }

    private static ObjectNode object(JsonNode type) {
        var schema = node();
        schema.put("type", "object");
        if (type.has("about")) {
            schema.put("description", type.get("about").stringValue());
        }
        var properties = schema.putObject("properties");
        var required = schema.putArray("required");
        for (var field : type.get("fields").properties()) {
            properties.set(bare(field.getKey()), schema(field.getValue()));
            if (!isOptional(field.getKey())) {
                required.add(bare(field.getKey()));
            }
        }
        return schema;
    }

    private ObjectNode schema() {
        var schema = base();
        if (nullable) {
            schema = orNull(schema);
        }
        if (about != null) {
            schema.put("description", about);
        }
        return schema;
    }

    private ObjectNode base() {
        var schema = node();
        if (type.startsWith("list of ")) {
            schema.put("type", "array").set("items", new TypeText(type.substring("list of ".length())).schema());
        } else if (type.startsWith("map of ")) {
            schema.put("type", "object")
                    .set("additionalProperties", new TypeText(type.substring("map of ".length())).schema());
        } else if (type.startsWith("just ")) {
            schema.put("type", "string").putArray("enum").add(type.substring("just ".length()));
        } else if (type.contains("|")) {
            var words = schema.put("type", "string").putArray("enum");
            words().forEach(words::add);
        } else if (type.equals("object")) {
            schema.put("type", "object").put("additionalProperties", true);
        } else if (type.equals("time")) {
            schema.put("type", "string").put("format", "date-time");
        } else if (List.of("string", "integer", "number", "boolean").contains(type)) {
            schema.put("type", type);
        } else {
            schema.put("$ref", SCHEMAS + type);
        }
        return schema;
    }

    private List<String> words() {
        return Arrays.stream(type.split("\\|", -1)).map(String::strip).toList();
    }

    private ObjectNode orNull(ObjectNode schema) {
        if (schema.has("$ref") || schema.has("enum")) {
            var either = node();
            either.putArray("anyOf").add(schema).addObject().put("type", "null");
            return either;
        }
        String one = schema.get("type").stringValue();
        schema.putArray("type").add(one).add("null");
        return schema;
    }

    private static ObjectNode node() {
        return Json.mapper().createObjectNode();
    }
}
