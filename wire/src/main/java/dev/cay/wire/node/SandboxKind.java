package dev.cay.wire.node;

import dev.cay.wire.TemplateId;
import java.util.List;

/// What sandboxes have in common that can stand in for each other as long as nobody has used them.
///
/// @param layers content keys of the template's layers, top first
public record SandboxKind(TemplateId templateId, List<String> layers, Resources resources) {
    public SandboxKind {
        layers = List.copyOf(layers);
    }
}
