package dev.cay.server.template;

import java.util.List;
import org.jspecify.annotations.Nullable;

/// What a sandbox was made of, and a copy of it must be made of again, whatever its template has become since.
///
/// @param layers content keys, top first
public record Origin(
        List<String> layers, String defaultUser, @Nullable String defaultWorkdir) {
    public static final String USER = "user";

    /// Of what is not built yet.
    static final Origin NOTHING = new Origin(List.of(), USER, null);

    public Origin {
        layers = List.copyOf(layers);
    }
}
