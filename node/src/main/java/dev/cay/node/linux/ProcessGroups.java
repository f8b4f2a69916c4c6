package dev.cay.node.linux;

/// Processes that get signals together.
public final class ProcessGroups {
    private static final NativeCall KILL = NativeCall.of("kill");
    private static final int SIGKILL = 9;

    private ProcessGroups() {}

    /// Ends all of them at once; does nothing if there are none.
    ///
    /// @param leader the process that the group is named by, which may be gone already
    public static void kill(long leader) {
        if (leader <= 1) {
            // 0 and -1 mean this process's own group, and all processes.
            throw new IllegalArgumentException("no leader of a group: " + leader);
        }
        try {
            KILL.call(-leader, SIGKILL);
        } catch (ErrnoException _) {
            // The group has ended, which is the goal.
        }
    }
}
