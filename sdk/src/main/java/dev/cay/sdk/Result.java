package dev.cay.sdk;

import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import tools.jackson.databind.JsonNode;

/// One output of a cell in several formats: the value of its last line, or something that it displays earlier.
///
/// @param main    whether it is the value of the cell's last line
/// @param formats by name: `text`, `html`, `markdown`, `latex`, `svg`, `png`, `jpeg`, `pdf` (these three in base64),
///                `json`, `javascript`, `data`, `chart`, and whatever else the cell gave
public record Result(boolean main, Map<String, Object> formats) {
    private static final Set<String> NO_FORMATS = Set.of("type", "is_main_result", "extra");

    public Result {
        formats = Map.copyOf(formats);
    }

    static Result of(JsonNode line) {
        var formats = new LinkedHashMap<String, Object>();
        line.propertyStream()
                .filter(property -> !NO_FORMATS.contains(property.getKey()))
                .forEach(property -> add(formats, property));
        line.path("extra").propertyStream().forEach(property -> add(formats, property));
        return new Result(line.path("is_main_result").asBoolean(false), formats);
    }

    private static void add(Map<String, Object> formats, Map.Entry<String, JsonNode> property) {
        if (!property.getValue().isNull()) {
            formats.put(property.getKey(), Http.JSON.convertValue(property.getValue(), Object.class));
        }
    }

    public Optional<String> text() {
        return string("text");
    }

    public Optional<String> html() {
        return string("html");
    }

    public Optional<byte[]> png() {
        return string("png").map(Base64.getMimeDecoder()::decode);
    }

    public Optional<byte[]> jpeg() {
        return string("jpeg").map(Base64.getMimeDecoder()::decode);
    }

    /// The format `json`, as maps, lists, strings, numbers and booleans.
    public Optional<Object> json() {
        return Optional.ofNullable(formats.get("json"));
    }

    /// The data of a figure: its type, title, axes and elements.
    public Optional<Object> chart() {
        return Optional.ofNullable(formats.get("chart"));
    }

    private Optional<String> string(String format) {
        return formats.get(format) instanceof String text ? Optional.of(text) : Optional.empty();
    }
}
