package dev.cay.node.build;

import dev.cay.http.Json;
import dev.cay.node.image.oci.ImageConfig;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.node.StartCommand;
import dev.cay.wire.node.TemplateImage;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;

/// The settings of a template in a label of the image that was made from it: images have no fields for a ready command,
/// for the user of sandboxes, or for a start command with another user.
///
/// @param user    default user of processes in sandboxes
/// @param workdir their default directory; null for the user's home
/// @param start   the start command of sandboxes; null for none
record TemplateLabel(
        String user, @Nullable String workdir, @Nullable StartCommand start) {
    static final String NAME = "dev.cay.template";

    /// The configuration of the image, which other programs that run images use.
    static Map<String, Object> configuration(TemplateImage image) {
        var start = image.start();
        var config = new LinkedHashMap<String, Object>();
        config.put("User", start == null ? image.user() : start.user());
        String workdir = start == null ? image.workdir() : start.workdir();
        if (workdir != null) {
            config.put("WorkingDir", workdir);
        }
        if (start != null) {
            config.put(
                    "Env",
                    start.environment().entrySet().stream()
                            .map(variable -> variable.getKey() + "=" + variable.getValue())
                            .sorted()
                            .toList());
            if (start.command() != null) {
                config.put("Entrypoint", List.of("/bin/sh", "-c", start.command()));
            }
        }
        var label = new TemplateLabel(image.user(), image.workdir(), start);
        config.put("Labels", Map.of(NAME, Json.mapper().writeValueAsString(label)));
        return config;
    }

    /// Empty for an image that no Cay wrote.
    static Optional<TemplateLabel> of(ImageConfig config) {
        String text = config.labels().get(NAME);
        if (text == null) {
            return Optional.empty();
        }
        try {
            var label = Json.mapper().readValue(text, TemplateLabel.class);
            if (label == null || label.user().isBlank()) {
                throw unreadable();
            }
            return Optional.of(label);
        } catch (JacksonException | NullPointerException e) {
            throw unreadable();
        }
    }

    private static CayException unreadable() {
        return new CayException(
                ErrorKind.INVALID_ARGUMENT, "the image's label %s cannot be read; was it edited?".formatted(NAME));
    }
}
