package dev.cay.wire.node;

import dev.cay.wire.BuildId;
import dev.cay.wire.TeamId;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import org.jspecify.annotations.Nullable;

/// Builds templates: a node runs the steps of a build in sandboxes and keeps what these change as layers.
public interface NodeBuilds {
    /// A node that builds nothing.
    NodeBuilds NONE = new NodeBuilds() {
        @Override
        public void begin(BuildPlan plan, Watcher watcher) {
            watcher.failed(null, "nothing is built here");
        }

        @Override
        public void cancel(BuildId id, String reason) {}

        @Override
        public boolean hasFiles(TeamId team, String hash) {
            return false;
        }

        @Override
        public void putFiles(TeamId team, String hash, InputStream content, long length) {}

        @Override
        public void export(TemplateImage image, OutputStream out) {}
    };

    /// Starts a build and returns at once. A step that was done before with the same inputs is skipped, so an
    /// interrupted build continues when it is started again.
    void begin(BuildPlan plan, Watcher watcher);

    /// Ends a build that is under way, which then fails with this reason. Unknown ones are fine.
    void cancel(BuildId id, String reason);

    /// Whether the node has the files of a copy step.
    boolean hasFiles(TeamId team, String hash);

    /// Takes an archive of files, which steps of this team name by its hash.
    ///
    /// @param length of the content; an archive of any other length is refused
    void putFiles(TeamId team, String hash, InputStream content, long length) throws IOException;

    /// Writes a template as an image archive, which `docker load` reads too. Blocks for as long as that takes.
    void export(TemplateImage image, OutputStream out) throws IOException;

    /// Receives the progress of one build, in order, on threads of the node. The last call is {@link #ready} or {@link
    /// #failed}.
    interface Watcher {
        void said(BuildLine line);

        void ready(BuildResult result);

        /// @param step `base`, the number of a step, or `finalize`; null when no step is to blame
        void failed(@Nullable String step, String message);
    }
}
