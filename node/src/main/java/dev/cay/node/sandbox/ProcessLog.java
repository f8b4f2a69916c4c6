package dev.cay.node.sandbox;

import dev.cay.node.guest.Exit;
import dev.cay.node.log.SandboxLog;
import dev.cay.node.process.Launch;
import dev.cay.node.process.ProcessTable;
import dev.cay.node.process.SandboxProcess;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// Logs the commands of a sandbox: text, user, and exit status.
final class ProcessLog implements ProcessTable.Watcher {
    private static final String LOGGER = "process";

    private final SandboxLog log;

    ProcessLog(SandboxLog log) {
        this.log = log;
    }

    @Override
    public void started(Launch launch, int pid) {
        var fields = new LinkedHashMap<String, String>();
        fields.put("event_type", "process_start");
        fields.put("pid", Integer.toString(pid));
        fields.put("command", text(launch.shown()));
        fields.put("user", launch.user());
        fields.put("cwd", launch.cwd());
        if (launch.tag() != null) {
            fields.put("tag", launch.tag());
        }
        log.info(LOGGER, "Process started", fields, launch.requested().values());
    }

    @Override
    public void ended(SandboxProcess process, Exit exit) {
        var config = process.info().getConfig();
        var command = new ArrayList<String>();
        command.add(config.getCmd());
        command.addAll(config.getArgsList());
        var fields = Map.of(
                "event_type", "process_end",
                "pid", Integer.toString(process.pid()),
                "command", text(command),
                "user", process.user(),
                "exit_code", Integer.toString(exit.bySignal() ? -1 : exit.code()),
                "status", exit.status());
        log.info(LOGGER, "Process ended", fields, config.getEnvsMap().values());
    }

    /// The command without the shell that clients wrap around a user's text.
    private static String text(List<String> command) {
        boolean wrapped = command.size() == 4
                && command.getFirst().endsWith("/bash")
                && command.get(1).equals("-l")
                && command.get(2).equals("-c");
        return wrapped ? command.getLast() : String.join(" ", command);
    }
}
