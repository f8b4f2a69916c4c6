package dev.cay.mcp;

import dev.cay.http.Json;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// The answer of a tool: fields, as text for models and as data for programs, and pictures.
record Answer(ObjectNode fields, List<Picture> pictures) {
    /// Longest text for a model at once; more would only displace its context.
    static final int LONGEST_TEXT = 100_000;

    record Picture(String mimeType, byte[] bytes) {}

    Answer() {
        this(Json.mapper().createObjectNode(), new ArrayList<>());
    }

    Answer with(String name, String value) {
        fields.put(name, value);
        return this;
    }

    Answer with(String name, long value) {
        fields.put(name, value);
        return this;
    }

    Answer with(String name, JsonNode value) {
        fields.set(name, value);
        return this;
    }

    /// Text from inside a sandbox, which may be of any length.
    Answer withLong(String name, String value) {
        if (value.length() <= LONGEST_TEXT) {
            return with(name, value);
        }
        int cut = Character.isHighSurrogate(value.charAt(LONGEST_TEXT - 1)) ? LONGEST_TEXT - 1 : LONGEST_TEXT;
        return with(
                name,
                "%s\n[%d more characters were left out]".formatted(value.substring(0, cut), value.length() - cut));
    }

    Answer withPicture(String mimeType, byte[] bytes) {
        pictures.add(new Picture(mimeType, bytes));
        return this;
    }

    JsonNode result() {
        var result = Json.mapper().createObjectNode();
        var content = result.putArray("content");
        content.addObject().put("type", "text").put("text", Json.text(fields));
        for (var picture : pictures) {
            content.addObject()
                    .put("type", "image")
                    .put("data", Base64.getEncoder().encodeToString(picture.bytes()))
                    .put("mimeType", picture.mimeType());
        }
        result.set("structuredContent", fields);
        return result.put("isError", false);
    }

    /// An error, for the model to read and react to.
    static JsonNode error(String message) {
        var result = Json.mapper().createObjectNode();
        result.putArray("content").addObject().put("type", "text").put("text", message);
        return result.put("isError", true);
    }
}
