package dev.cay.wire.node;

import java.util.List;
import org.jspecify.annotations.Nullable;

/// A template build that is written as a container image.
///
/// @param name    of the image, with its tag
/// @param layers  content keys, top first
/// @param user    default user of processes
/// @param workdir default directory of processes; null for the user's home
/// @param start   the start command of sandboxes; null for none
public record TemplateImage(
        String name,
        List<String> layers,
        String user,
        @Nullable String workdir,
        @Nullable StartCommand start) {
    public TemplateImage {
        layers = List.copyOf(layers);
    }
}
