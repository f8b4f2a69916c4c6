package dev.cay.server.store;

import java.util.List;
import java.util.Map;
import tools.jackson.core.type.TypeReference;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.json.JsonMapper;

/// Columns with JSON, for data that is always read and written as a whole.
public final class JsonColumn {
    private static final JsonMapper MAPPER = JsonMapper.builder()
            .enable(SerializationFeature.ORDER_MAP_ENTRIES_BY_KEYS)
            .build();

    private JsonColumn() {}

    public static String write(Object value) {
        return MAPPER.writeValueAsString(value);
    }

    public static <T> T read(String json, Class<T> type) {
        return MAPPER.readValue(json, type);
    }

    public static Map<String, String> readMap(String json) {
        return MAPPER.readValue(json, new TypeReference<Map<String, String>>() {});
    }

    public static Map<String, Object> readObject(String json) {
        return MAPPER.readValue(json, new TypeReference<Map<String, Object>>() {});
    }

    public static List<String> readList(String json) {
        return MAPPER.readValue(json, new TypeReference<List<String>>() {});
    }
}
