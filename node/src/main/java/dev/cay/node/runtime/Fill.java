package dev.cay.node.runtime;

import java.nio.file.Path;

/// How far the memory of a container that was restored without it has come back.
///
/// @param copied  pages that were brought in
/// @param pages   that there are
/// @param reason  why it is lost
/// @param touched file with the pages that programs waited for, once all are in
public record Fill(Stage stage, long copied, long pages, String reason, Path touched) {
    /// Where a fill is.
    public enum Stage {
        /// The container was started, or restored with all its memory.
        NONE,
        UNDER_WAY,
        DONE,
        /// Some of its memory cannot be brought back any more. It must not go on.
        LOST
    }

    public boolean isUnderWay() {
        return stage == Stage.UNDER_WAY;
    }

    /// What is said of a sandbox whose memory is lost.
    public String loss() {
        return "some of its memory was lost: " + reason;
    }

    /// Bytes of memory that are still to come.
    public long missing(long pageSize) {
        return isUnderWay() ? Math.max(0, pages - copied) * pageSize : 0;
    }

    public boolean isLost() {
        return stage == Stage.LOST;
    }
}
