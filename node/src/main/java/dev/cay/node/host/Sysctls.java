package dev.cay.node.host;

import java.nio.file.Path;
import java.util.List;

/// Kernel settings that hundreds of sandboxes need, raised and never lowered.
///
/// What a setting was before is written to a file first, so that {@link #restore} can put it back even after a crash.
public final class Sysctls {
    /// One setting we changed.
    ///
    /// @param name like `kernel.pid_max`
    public record Change(String name, String before, String after) {}

    /// @param memory where the values of before are remembered, a file in the state directory
    public Sysctls(Path memory) {
        this(memory, Path.of("/proc/sys"));
    }

    Sysctls(Path memory, Path root) {}

    /// Raises what is too low. Settings this kernel does not have are skipped.
    ///
    /// @return what was changed, for the operator to read
    public List<Change> apply() {
        return List.of();
    }

    /// Puts back what we changed, unless somebody else has changed it since.
    public List<Change> restore() {
        return List.of();
    }
}
