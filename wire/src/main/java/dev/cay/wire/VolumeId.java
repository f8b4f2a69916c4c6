package dev.cay.wire;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;
import java.util.List;
import java.util.UUID;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/// Names one volume for all its life. A UUID in lower case; a plain string in JSON.
public record VolumeId(@JsonValue String value) {
    private static final Pattern SHAPE = Pattern.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}");

    @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
    public VolumeId {
        if (!SHAPE.matcher(value).matches()) {
            throw new CayException(ErrorKind.INVALID_ARGUMENT, "Invalid volume ID");
        }
    }

    public static VolumeId random() {
        return new VolumeId(UUID.randomUUID().toString());
    }

    /// The ids among these names, for example of files; other names are skipped.
    public static List<VolumeId> among(Stream<String> names) {
        return names.filter(SHAPE.asMatchPredicate()).map(VolumeId::new).toList();
    }

    @Override
    public String toString() {
        return value;
    }
}
