package dev.cay.node.process;

import java.io.IOException;
import java.util.Map;

/// The folder and logs of a process before it starts. Close it if the process is not started, also when the client has
/// left meanwhile. All methods do file work.
record ProcessSetup(ProcessFolder folder, ProcessFolder.About about, Map<Channel, OutputLog> logs)
        implements AutoCloseable {
    static ProcessSetup of(ProcessFolder folder, Launch launch, long memoryKills, Map<Channel, OutputLog> logs)
            throws IOException {
        try {
            var setup = new ProcessSetup(folder, folder.create(launch, CommandClock.now(), memoryKills), logs);
            logs.values().iterator().next().rotate();
            return setup;
        } catch (IOException | RuntimeException e) {
            try {
                undo(folder, logs);
            } catch (IOException more) {
                e.addSuppressed(more);
            }
            throw e;
        }
    }

    private static void undo(ProcessFolder folder, Map<Channel, OutputLog> logs) throws IOException {
        logs.values().forEach(OutputLog::close);
        folder.delete();
    }

    @Override
    public void close() throws IOException {
        undo(folder, logs);
    }
}
