package dev.cay.node.mcp;

import dev.cay.http.Json;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// Reads the arguments of a tool's call. Refuses what is wrong with a sentence for the model.
final class ToolArguments {
    private ToolArguments() {}

    static String text(JsonNode arguments, String field) {
        var value = arguments.path(field);
        if (!value.isString() || value.asString().isBlank()) {
            throw invalid("%s must be a text that is not empty".formatted(field));
        }
        return value.asString();
    }

    static ObjectNode object(JsonNode arguments, String field) {
        var value = arguments.path(field);
        if (value.isMissingNode() || value.isNull()) {
            return Json.mapper().createObjectNode();
        }
        if (!(value instanceof ObjectNode object)) {
            throw invalid("%s must be an object, like {}".formatted(field));
        }
        return object;
    }

    static CayException invalid(String message) {
        return new CayException(ErrorKind.INVALID_ARGUMENT, message);
    }
}
