package dev.cay.server.template;

import java.util.List;
import org.jspecify.annotations.Nullable;

/// The build that a sandbox was made of. A copy of the sandbox needs the same one, whatever its template has become
/// since.
///
/// @param layers content keys, top first
public record Origin(
        List<String> layers, String defaultUser, @Nullable String defaultWorkdir) {
    public static final String USER = "user";

    /// The origin of a template that is not built yet.
    static final Origin NOTHING = new Origin(List.of(), USER, null);

    public Origin {
        layers = List.copyOf(layers);
    }
}
