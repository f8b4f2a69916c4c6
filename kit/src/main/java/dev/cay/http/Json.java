package dev.cay.http;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.nio.charset.StandardCharsets;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.exc.StreamReadException;
import tools.jackson.core.type.TypeReference;
import tools.jackson.databind.DatabindException;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.MapperFeature;
import tools.jackson.databind.cfg.CoercionAction;
import tools.jackson.databind.cfg.CoercionInputShape;
import tools.jackson.databind.exc.MismatchedInputException;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.type.LogicalType;

/// JSON of Cay: records, ISO timestamps, nulls left out, unknown fields ignored, no coercion of types.
///
/// Unreadable JSON is the sender's error, and the message names the field. A record that needs a null written has
/// `@JsonInclude(ALWAYS)`.
public final class Json {
    private static final JsonMapper MAPPER = JsonMapper.builder()
            .changeDefaultPropertyInclusion(old -> old.withValueInclusion(JsonInclude.Include.NON_NULL))
            .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
            .disable(MapperFeature.SORT_PROPERTIES_ALPHABETICALLY)
            // "5" is not a number, and 5.7 is not an integer: a client that mixes them up gets an error.
            .disable(MapperFeature.ALLOW_COERCION_OF_SCALARS)
            .disable(DeserializationFeature.ACCEPT_FLOAT_AS_INT)
            .withCoercionConfig(
                    LogicalType.Textual,
                    config -> config.setCoercion(CoercionInputShape.Integer, CoercionAction.Fail)
                            .setCoercion(CoercionInputShape.Float, CoercionAction.Fail)
                            .setCoercion(CoercionInputShape.Boolean, CoercionAction.Fail))
            .build();

    private Json() {}

    /// The mapper, for what the methods here do not do: trees, line by line reading.
    public static JsonMapper mapper() {
        return MAPPER;
    }

    public static byte[] write(Object value) {
        return MAPPER.writeValueAsBytes(value);
    }

    public static String text(Object value) {
        return MAPPER.writeValueAsString(value);
    }

    public static <T> @Nullable T read(byte[] json, Class<T> type) {
        try {
            return MAPPER.readValue(json, type);
        } catch (JacksonException e) {
            throw refusal(e);
        }
    }

    public static <T> @Nullable T read(String json, Class<T> type) {
        return read(json.getBytes(StandardCharsets.UTF_8), type);
    }

    public static <T> @Nullable T read(byte[] json, TypeReference<T> type) {
        try {
            return MAPPER.readValue(json, type);
        } catch (JacksonException e) {
            throw refusal(e);
        }
    }

    private static CayException refusal(JacksonException e) {
        if (e.getCause() instanceof CayException own) {
            return own;
        }
        String message = switch (e) {
            case StreamReadException _ -> "the body is not valid JSON";
            case MismatchedInputException mismatch -> field(mismatch) + expected(mismatch);
            case DatabindException other -> field(other) + "has a value that is not allowed";
            default -> "the body cannot be read";
        };
        return new CayException(ErrorKind.INVALID_ARGUMENT, "validation error: " + message, e);
    }

    private static String expected(MismatchedInputException e) {
        Class<?> type = e.getTargetType();
        if (type == null) {
            return "has a value that is not allowed";
        }
        if (type.isEnum()) {
            Object[] constants = type.getEnumConstants();
            return "must be one of " + java.util.Arrays.toString(constants);
        }
        if (type == boolean.class || type == Boolean.class) {
            return "must be true or false";
        }
        if (type.isPrimitive() || Number.class.isAssignableFrom(type)) {
            return "must be a number in range";
        }
        if (type == String.class) {
            return "must be a string";
        }
        if (Iterable.class.isAssignableFrom(type) || type.isArray()) {
            return "must be a list";
        }
        return "must be a valid " + type.getSimpleName();
    }

    private static String field(DatabindException e) {
        String path = e.getPath().stream()
                .map(step -> step.getPropertyName() == null ? "[" + step.getIndex() + "]" : step.getPropertyName())
                .collect(Collectors.joining("."));
        return path.isEmpty() ? "the body " : path + " ";
    }
}
