package dev.cay.wire.node;

import java.nio.file.Path;

/// The files of the dashboard, which a node builds in the background after its first start.
public interface NodeDashboard {
    /// How far the files are.
    sealed interface State {
        /// @param step what is being done
        record Building(String step) implements State {}

        /// @param reason a sentence for users
        record Failed(String reason) implements State {}

        /// @param directory has `index.html`, and in `assets` files that never change under their names
        record Ready(Path directory) implements State {}
    }

    /// A node without a dashboard.
    NodeDashboard NONE = () -> new State.Failed("this server was started without a dashboard");

    State state();
}
