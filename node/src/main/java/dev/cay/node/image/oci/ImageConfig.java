package dev.cay.node.image.oci;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/// The configuration of an image.
///
/// @param environment  in the image's order
/// @param user         name or id, with a group after a colon; empty for root
/// @param workdir      empty for the root directory
/// @param exposedPorts like `8080/tcp`
/// @param architecture OCI's name, like `amd64`
public record ImageConfig(
        Map<String, String> environment,
        String user,
        String workdir,
        List<String> entrypoint,
        List<String> command,
        List<String> exposedPorts,
        Map<String, String> labels,
        @Nullable Healthcheck healthcheck,
        String architecture) {
    private static final int MOST = 10_000;

    public ImageConfig {
        environment = Collections.unmodifiableMap(new LinkedHashMap<>(environment));
        entrypoint = List.copyOf(entrypoint);
        command = List.copyOf(command);
        exposedPorts = List.copyOf(exposedPorts);
        labels = Collections.unmodifiableMap(new LinkedHashMap<>(labels));
    }

    /// A Docker health check. Zero means Docker's default.
    ///
    /// @param test `NONE`, or `CMD` with arguments, or `CMD-SHELL` with one
    public record Healthcheck(
            List<String> test, Duration interval, Duration timeout, Duration startPeriod, int retries) {
        public Healthcheck {
            test = List.copyOf(test);
        }
    }

    /// @param json the whole configuration of an image
    static ImageConfig of(JsonNode json) {
        var config = json.path("config");
        return new ImageConfig(
                environment(config.path("Env")),
                text(config.path("User")),
                text(config.path("WorkingDir")),
                texts(config.path("Entrypoint")),
                texts(config.path("Cmd")),
                names(config.path("ExposedPorts")),
                labels(config.path("Labels")),
                healthcheck(config.path("Healthcheck")),
                text(json.path("architecture")));
    }

    private static Map<String, String> environment(JsonNode list) {
        var environment = new LinkedHashMap<String, String>();
        for (String each : texts(list)) {
            int equals = each.indexOf('=');
            if (equals > 0) {
                environment.put(each.substring(0, equals), each.substring(equals + 1));
            }
        }
        return environment;
    }

    private static @Nullable Healthcheck healthcheck(JsonNode json) {
        if (!json.isObject()) {
            return null;
        }
        return new Healthcheck(
                texts(json.path("Test")),
                Duration.ofNanos(Math.max(0, json.path("Interval").asLong(0))),
                Duration.ofNanos(Math.max(0, json.path("Timeout").asLong(0))),
                Duration.ofNanos(Math.max(0, json.path("StartPeriod").asLong(0))),
                Math.max(0, json.path("Retries").asInt(0)));
    }

    private static String text(JsonNode json) {
        String text = json.isString() ? json.asString() : "";
        if (text.indexOf('\0') >= 0) {
            throw BadImage.because("the image's configuration has a NUL byte in a text");
        }
        return text;
    }

    private static List<String> texts(JsonNode list) {
        var texts = new ArrayList<String>();
        for (var each : list) {
            requireFew(texts.size());
            texts.add(text(each));
        }
        return texts;
    }

    private static List<String> names(JsonNode object) {
        var names = new ArrayList<>(object.propertyNames());
        requireFew(names.size());
        return names;
    }

    private static Map<String, String> labels(JsonNode object) {
        var labels = new LinkedHashMap<String, String>();
        for (String name : names(object)) {
            labels.put(name, text(object.path(name)));
        }
        return labels;
    }

    private static void requireFew(int count) {
        if (count > MOST) {
            throw BadImage.because("the image's configuration has a list of more than %,d".formatted(MOST));
        }
    }
}
