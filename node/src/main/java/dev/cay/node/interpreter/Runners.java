package dev.cay.node.interpreter;

import dev.cay.node.guest.GuestException;
import dev.cay.node.guest.GuestLink;
import dev.cay.node.guest.GuestProcess;
import dev.cay.node.guest.Spawn;
import dev.cay.node.lines.LineProcess;
import dev.cay.node.lines.LongLines;
import dev.cay.node.process.Workers;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Starts runners in one sandbox, and finds running ones.
///
/// @param defaults  default variables of every process
/// @param languages of the sandbox
record Runners(GuestLink link, Workers workers, LongLines room, Map<String, String> defaults, Languages languages) {
    private static final Logger log = LoggerFactory.getLogger(Runners.class);
    private static final String TAG = "runner-";
    private static final int SIGKILL = 9;

    /// Variables of every runner; runners run as root.
    private static final Map<String, String> ENVIRONMENT = Map.of(
            "PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
            "HOME", "/root",
            "USER", "root",
            "LOGNAME", "root",
            "LANG", "C.UTF-8");

    Runners {
        defaults = Map.copyOf(defaults);
    }

    /// Whether a process of the guest is a runner, and no command of the user.
    static boolean isRunner(GuestProcess process) {
        return process.tag().startsWith(TAG);
    }

    Set<Integer> running() throws IOException {
        return link.list().stream()
                .filter(process -> isRunner(process) && process.exit() == null)
                .map(GuestProcess::pid)
                .collect(Collectors.toSet());
    }

    /// Kills a running runner with its group.
    void end(int pid) {
        try {
            link.signalGroup(pid, SIGKILL);
            link.forget(pid);
        } catch (IOException e) {
            log.atInfo().setCause(e).addKeyValue("pid", pid).log("cannot kill a runner that belongs to no context");
        }
    }

    /// Receives the end of a running runner.
    LineProcess.Claim claim(int pid) {
        return new LineProcess.Claim(link, pid);
    }

    Runner attach(LineProcess.Claim claim) throws IOException {
        return Runner.attach(link, workers, room, claim);
    }

    /// The inputs for starting a runner.
    ///
    /// @param context its id
    record Purpose(String context, Language language, Map<String, String> variables, boolean warm) {}

    /// Starts in that directory, if it exists: some languages never notice that their directory changed.
    Runner launch(Purpose purpose, String cwd) {
        try {
            return launchIn(cwd, purpose);
        } catch (GuestException e) {
            if (e.what().equals("chdir")) {
                return launchAnywhere(purpose);
            }
            throw notStarted(purpose, e);
        } catch (IOException e) {
            throw notStarted(purpose, e);
        }
    }

    private Runner launchAnywhere(Purpose purpose) {
        try {
            return launchIn("/", purpose);
        } catch (IOException e) {
            throw notStarted(purpose, e);
        }
    }

    private Runner launchIn(String cwd, Purpose purpose) throws IOException {
        var all = new TreeMap<>(ENVIRONMENT);
        all.putAll(defaults);
        all.putAll(purpose.variables());
        var spawn = new Spawn(
                purpose.language().command(languages.program(purpose.language()), purpose.warm()),
                all.entrySet().stream()
                        .map(variable -> variable.getKey() + "=" + variable.getValue())
                        .toList(),
                cwd,
                0,
                0,
                List.of(),
                0,
                0,
                true,
                TAG + purpose.context());
        return Runner.start(link, workers, room, spawn);
    }

    private static CayException notStarted(Purpose purpose, IOException e) {
        return new CayException(
                ErrorKind.FAILED,
                "Failed to create context: %s cannot be started: %s"
                        .formatted(purpose.language().label(), e.getMessage()),
                e);
    }
}
