package dev.cay.wire.node;

import java.util.List;
import org.jspecify.annotations.Nullable;

/// A build of a template that is written as a container image.
///
/// @param name    of the image, with its tag
/// @param layers  content keys, top first
/// @param user    whom processes run as that name no user
/// @param workdir where they start; null for the user's home
/// @param start   what sandboxes have running; null for nothing
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
