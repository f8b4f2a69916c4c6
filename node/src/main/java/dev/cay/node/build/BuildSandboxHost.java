package dev.cay.node.build;

import dev.cay.wire.TemplateId;
import dev.cay.wire.node.Resources;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;

/// Opens sandboxes for builds.
public interface BuildSandboxHost {
    /// Starts one for a step, in which nothing runs. Blocks, with a limit.
    ///
    /// @param layers content keys, top first
    BuildSandbox open(TemplateId template, List<String> layers, Resources resources);

    /// Starts one as sandboxes of the template are, with its interpreter if it has one.
    BuildSandbox openWhole(TemplateId template, List<String> layers, Resources resources);

    /// Whether a sandbox was saved under this name, with its memory.
    boolean hasSaved(String name);

    /// The files of a sandbox that was saved.
    SavedFiles requireSaved(String snapshot);

    /// The files of a saved sandbox.
    ///
    /// @param layers  content keys of its template, top first
    /// @param changed the files that differ from the layers, as overlayfs writes them
    /// @param at      when they were saved
    record SavedFiles(List<String> layers, Path changed, Instant at) {
        public SavedFiles {
            layers = List.copyOf(layers);
        }
    }
}
