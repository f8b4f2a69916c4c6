package dev.cay.server.template;

import java.util.HashSet;
import java.util.Set;
import org.jdbi.v3.core.Handle;

/// The layers and snapshots of users' templates. Templates that come with Cay are left out, because any machine can
/// build them.
///
/// @param layers    content keys
/// @param snapshots names of those that sandboxes can be created from
public record TemplateContents(Set<String> layers, Set<String> snapshots) {
    public TemplateContents {
        layers = Set.copyOf(layers);
        snapshots = Set.copyOf(snapshots);
    }

    /// @param house names of templates that come with Cay
    public static TemplateContents of(Handle handle, Set<String> house) {
        var layers = new HashSet<String>();
        var snapshots = new HashSet<String>();
        for (var template : TemplateStore.all(handle)) {
            boolean ours = template.isPublic() && template.names().stream().anyMatch(house::contains);
            for (var build : template.builds()) {
                if (build.isReady() && !ours) {
                    layers.addAll(build.origin().layers());
                    if (build.snapshot() != null) {
                        snapshots.add(build.snapshot());
                    }
                }
            }
        }
        return new TemplateContents(layers, snapshots);
    }
}
