package dev.cay.sdk;

import dev.cay.sdk.SandboxException.Kind;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/// The commands of a sandbox.
public final class Commands {
    private final Rpc rpc;

    Commands(Rpc rpc) {
        this.rpc = rpc;
    }

    /// Runs a command and waits for its end.
    public CommandResult run(String command) {
        return run(Command.of(command));
    }

    /// Runs a command and waits for its end. When this thread is interrupted, the command is killed.
    public CommandResult run(Command command) {
        try (var running = start(command)) {
            try {
                return running.await();
            } catch (SandboxException e) {
                if (e.kind() == Kind.INTERRUPTED) {
                    Interrupts.holdDuring(running::kill);
                }
                throw e;
            }
        }
    }

    /// Starts a command and returns. The command outlives this program; {@link #connect} connects to it again.
    public RunningCommand start(Command command) {
        var process = new LinkedHashMap<String, Object>();
        process.put("cmd", "/bin/bash");
        process.put("args", List.of("-l", "-c", command.text()));
        process.put("envs", command.env());
        if (command.cwd() != null) {
            process.put("cwd", command.cwd());
        }
        var wish = Map.of("process", process, "stdin", command.stdin());
        var frames = rpc.as(command.user()).stream("process.Process/Start", wish, command.timeout());
        return RunningCommand.following(rpc, frames, command);
    }

    /// Connects to a running command: to its output from now on, and its result.
    public RunningCommand connect(int pid) {
        return connect(pid, Command.of("").withoutLimit());
    }

    /// @param listening only its listeners, its time limit and its output limit are used
    public RunningCommand connect(int pid, Command listening) {
        var frames = rpc.stream("process.Process/Connect", RunningCommand.selector(pid), listening.timeout());
        return RunningCommand.following(rpc, frames, listening);
    }

    /// Lists the running commands.
    public List<CommandInfo> list() {
        return rpc.call("process.Process/List", Map.of())
                .path("processes")
                .valueStream()
                .map(Commands::info)
                .toList();
    }

    private static CommandInfo info(JsonNode process) {
        var config = process.path("config");
        var args = config.path("args").valueStream().map(JsonNode::asString).toList();
        @Nullable
        String cwd = config.path("cwd").isString() ? config.path("cwd").asString() : null;
        return new CommandInfo(process.path("pid").asInt(), config.path("cmd").asString(""), args, cwd);
    }

    /// Kills a command.
    ///
    /// @return whether it existed
    public boolean kill(int pid) {
        return RunningCommand.kill(rpc, pid);
    }
}
