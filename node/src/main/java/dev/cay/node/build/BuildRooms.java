package dev.cay.node.build;

import dev.cay.wire.TemplateId;
import dev.cay.wire.node.Resources;
import java.util.List;

/// Where rooms for builds come from.
public interface BuildRooms {
    /// Starts one. Blocks, with a limit.
    ///
    /// @param layers content keys, top first
    BuildRoom open(TemplateId template, List<String> layers, Resources resources);
}
