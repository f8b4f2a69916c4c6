package dev.cay.server.template;

import dev.cay.wire.node.Resources;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// All templates, by id and by name.
public final class Templates {
    /// Makes a template that everybody may use by its bare name, or gives an existing one new content. The id of a
    /// name never changes; a build id is given only when something did.
    public TemplateRecord register(
            String alias,
            List<String> layers,
            Resources resources,
            String defaultUser,
            @Nullable String defaultWorkdir) {
        throw new UnsupportedOperationException();
    }
}
