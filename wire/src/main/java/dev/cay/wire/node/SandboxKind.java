package dev.cay.wire.node;

import dev.cay.wire.TemplateId;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// What sandboxes have in common that can stand in for each other as long as nobody has used them.
///
/// @param layers   content keys of the template's layers, top first
/// @param snapshot what they go on from; null for those that start anew
public record SandboxKind(
        TemplateId templateId,
        List<String> layers,
        Resources resources,
        @Nullable String snapshot) {
    public SandboxKind {
        layers = List.copyOf(layers);
    }

    /// Of those that start anew.
    public SandboxKind(TemplateId templateId, List<String> layers, Resources resources) {
        this(templateId, layers, resources, null);
    }
}
