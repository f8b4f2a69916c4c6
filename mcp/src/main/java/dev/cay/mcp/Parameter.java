package dev.cay.mcp;

import java.util.Locale;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// An argument of a tool: its description for the client, and its checks.
///
/// @param least smallest number, or shortest length of a string
/// @param usual the default
record Parameter(
        String name,
        Type type,
        String about,
        boolean required,
        @Nullable Integer least,
        @Nullable Integer most,
        @Nullable Object usual) {
    enum Type {
        STRING,
        INTEGER,
        BOOLEAN
    }

    static Parameter text(String name, String about) {
        return new Parameter(name, Type.STRING, about, true, 1, null, null);
    }

    /// A parameter that may be the empty string.
    static Parameter content(String name, String about) {
        return new Parameter(name, Type.STRING, about, true, null, null, null);
    }

    static Parameter number(String name, String about, int least, int most) {
        return new Parameter(name, Type.INTEGER, about, true, least, most, null);
    }

    static Parameter flag(String name, String about, boolean usual) {
        return new Parameter(name, Type.BOOLEAN, about, false, null, null, usual);
    }

    Parameter or(@Nullable Object value) {
        return new Parameter(name, type, about, false, least, most, value);
    }

    void describe(ObjectNode schema) {
        var property = schema.withObject("properties").putObject(name);
        property.put("type", type.name().toLowerCase(Locale.ROOT)).put("description", about);
        if (least != null) {
            property.put(type == Type.STRING ? "minLength" : "minimum", least);
        }
        if (most != null) {
            property.put(type == Type.STRING ? "maxLength" : "maximum", most);
        }
        if (usual != null) {
            property.putPOJO("default", usual);
        }
        if (required) {
            schema.withArray("required").add(name);
        }
    }

    /// What is wrong with the given value.
    Optional<String> problem(JsonNode arguments) {
        var value = arguments.path(name);
        if (value.isMissingNode() || value.isNull()) {
            return required ? Optional.of(name + " is missing") : Optional.empty();
        }
        return switch (type) {
            case STRING -> value.isString() ? shortString(value.asString()) : Optional.of(name + " must be a string");
            case BOOLEAN -> value.isBoolean() ? Optional.empty() : Optional.of(name + " must be true or false");
            case INTEGER ->
                value.isIntegralNumber() && value.canConvertToInt()
                        ? outOfRange(value.asInt())
                        : Optional.of(name + " must be a whole number");
        };
    }

    private Optional<String> shortString(String value) {
        return least != null && value.length() < least ? Optional.of(name + " must not be empty") : Optional.empty();
    }

    private Optional<String> outOfRange(int value) {
        boolean inside = (least == null || value >= least) && (most == null || value <= most);
        return inside ? Optional.empty() : Optional.of("%s must be from %d to %d".formatted(name, least, most));
    }
}
