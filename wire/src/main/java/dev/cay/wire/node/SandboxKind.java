package dev.cay.wire.node;

import dev.cay.wire.TemplateId;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The properties that spare sandboxes share, so that one can be used in place of another.
///
/// @param layers   content keys of the template's layers, top first
/// @param snapshot the snapshot they are restored from; null for a cold start
public record SandboxKind(
        TemplateId templateId,
        List<String> layers,
        Resources resources,
        @Nullable String snapshot) {
    public SandboxKind {
        layers = List.copyOf(layers);
    }

    /// A kind with a cold start.
    public SandboxKind(TemplateId templateId, List<String> layers, Resources resources) {
        this(templateId, layers, resources, null);
    }
}
