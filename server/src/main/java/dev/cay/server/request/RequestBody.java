package dev.cay.server.request;

import dev.cay.http.Exchange;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;

/// The JSON object of a request, read field by field, so that an error can name the field. Unknown fields are ignored,
/// null counts as absent.
public final class RequestBody {
    private final String path;
    private final JsonNode node;

    private RequestBody(String path, JsonNode node) {
        this.path = path;
        this.node = node;
    }

    /// The body; none at all counts as an empty object.
    public static RequestBody of(Exchange exchange) {
        return of(exchange.json(JsonNode.class));
    }

    /// A body of JSON that was parsed already.
    public static RequestBody of(@Nullable JsonNode node) {
        if (node == null || node.isNull() || node.isMissingNode()) {
            return new RequestBody("", JsonNodeFactory.instance.objectNode());
        }
        if (!node.isObject()) {
            throw invalid("the body must be a JSON object");
        }
        return new RequestBody("", node);
    }

    public static CayException invalid(String message) {
        return new CayException(ErrorKind.INVALID_ARGUMENT, "validation error: " + message);
    }

    /// A text that is not blank; null when it is absent or blank.
    public @Nullable String filled(String name) {
        String text = text(name);
        return text == null || text.isBlank() ? null : text;
    }

    public @Nullable String text(String name) {
        JsonNode value = find(name);
        if (value != null && !value.isString()) {
            throw wrong(name, "a string", value);
        }
        return value == null ? null : value.stringValue();
    }

    public @Nullable Integer integer(String name) {
        JsonNode value = find(name);
        if (value != null && !(value.isIntegralNumber() && value.canConvertToInt())) {
            throw wrong(name, "a whole number", value);
        }
        return value == null ? null : Integer.valueOf(value.intValue());
    }

    public @Nullable Boolean bool(String name) {
        JsonNode value = find(name);
        if (value != null && !value.isBoolean()) {
            throw wrong(name, "true or false", value);
        }
        return value == null ? null : Boolean.valueOf(value.booleanValue());
    }

    /// The lifetime of a sandbox: the field `timeout`, in seconds.
    public Duration timeout(Duration absent, Duration max) {
        Integer seconds = integer("timeout");
        if (seconds == null) {
            return absent.compareTo(max) > 0 ? max : absent;
        }
        if (seconds <= 0) {
            throw new CayException(ErrorKind.INVALID_ARGUMENT, "Timeout must be greater than 0");
        }
        return checkedTimeout(seconds, max);
    }

    public static Duration checkedTimeout(long seconds, Duration max) {
        if (seconds > max.toSeconds()) {
            String most = max.toMinutes() % 60 == 0 ? max.toHours() + " hours" : max.toSeconds() + " seconds";
            throw new CayException(ErrorKind.INVALID_ARGUMENT, "Timeout cannot be greater than " + most);
        }
        return Duration.ofSeconds(seconds);
    }

    /// A nested object; empty when absent.
    public RequestBody object(String name) {
        JsonNode value = find(name);
        if (value != null && !value.isObject()) {
            throw wrong(name, "an object", value);
        }
        return new RequestBody(path + name + ".", value == null ? JsonNodeFactory.instance.objectNode() : value);
    }

    /// A list of objects; empty when absent.
    public List<RequestBody> objects(String name) {
        JsonNode value = find(name);
        if (value == null) {
            return List.of();
        }
        if (!value.isArray()) {
            throw wrong(name, "a list of objects", value);
        }
        var objects = new ArrayList<RequestBody>();
        for (JsonNode element : value) {
            if (!element.isObject()) {
                throw wrong(name, "a list of objects", value);
            }
            objects.add(new RequestBody("%s%s[%d].".formatted(path, name, objects.size()), element));
        }
        return objects;
    }

    /// A list of strings; empty when absent.
    public List<String> texts(String name) {
        JsonNode value = find(name);
        if (value == null) {
            return List.of();
        }
        if (!value.isArray()) {
            throw wrong(name, "a list of strings", value);
        }
        var texts = new ArrayList<String>();
        for (JsonNode element : value) {
            if (!element.isString()) {
                throw wrong(name, "a list of strings", value);
            }
            texts.add(element.stringValue());
        }
        return texts;
    }

    /// A list of whole numbers; empty when absent.
    public List<Integer> integers(String name) {
        JsonNode value = find(name);
        if (value == null) {
            return List.of();
        }
        if (!value.isArray()) {
            throw wrong(name, "a list of whole numbers", value);
        }
        var numbers = new ArrayList<Integer>();
        for (JsonNode element : value) {
            if (!(element.isIntegralNumber() && element.canConvertToInt())) {
                throw wrong(name, "a list of whole numbers", value);
            }
            numbers.add(element.intValue());
        }
        return numbers;
    }

    /// An object whose values are lists of objects; empty when absent.
    public Map<String, List<RequestBody>> lists(String name) {
        var object = object(name);
        var lists = new TreeMap<String, List<RequestBody>>();
        for (var entry : object.node.properties()) {
            lists.put(entry.getKey(), object.objects(entry.getKey()));
        }
        return lists;
    }

    /// An object whose values are objects; empty when absent.
    public Map<String, RequestBody> objectsByName(String name) {
        var object = object(name);
        var objects = new TreeMap<String, RequestBody>();
        for (var entry : object.node.properties()) {
            objects.put(entry.getKey(), object.object(entry.getKey()));
        }
        return objects;
    }

    /// An object whose values are all strings; empty when absent.
    public Map<String, String> map(String name) {
        JsonNode value = object(name).node;
        var map = new TreeMap<String, String>();
        for (var entry : value.properties()) {
            if (!entry.getValue().isString()) {
                throw wrong(name + "." + entry.getKey(), "a string", entry.getValue());
            }
            map.put(entry.getKey(), entry.getValue().stringValue());
        }
        return map;
    }

    /// Whether the field is present, and not an empty list or object.
    public boolean says(String name) {
        JsonNode value = find(name);
        return value != null && !(value.isContainer() && value.isEmpty());
    }

    /// Whether the field is there, also if it is empty.
    public boolean has(String name) {
        return find(name) != null;
    }

    /// Whether the field is there, also if it is null.
    public boolean mentions(String name) {
        return node.has(name);
    }

    /// Refuses fields with other names than these.
    public void requireOnly(Set<String> names) {
        for (var entry : node.properties()) {
            if (!names.contains(entry.getKey())) {
                throw invalid("'%s%s' is not known here; there are: %s"
                        .formatted(path, entry.getKey(), String.join(", ", new TreeSet<>(names))));
            }
        }
    }

    private @Nullable JsonNode find(String name) {
        JsonNode value = node.get(name);
        return value == null || value.isNull() ? null : value;
    }

    private CayException wrong(String name, String wanted, JsonNode value) {
        String shown = value.toString();
        return invalid("'%s%s' must be %s, not %s"
                .formatted(path, name, wanted, shown.length() > 60 ? shown.substring(0, 60) + "..." : shown));
    }
}
