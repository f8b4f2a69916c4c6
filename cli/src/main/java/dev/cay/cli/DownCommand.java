package dev.cay.cli;

import dev.cay.cli.local.ConfigOptions;
import dev.cay.cli.local.Root;
import dev.cay.cli.local.RunFile;
import dev.cay.config.CayConfig;
import dev.cay.life.Progress;
import dev.cay.node.host.HostProcess;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

@Command(
        name = "down",
        mixinStandardHelpOptions = true,
        description = "Stop Cay. Sandboxes keep running unless --all is given.",
        footer = {
            "",
            "--all also puts back what Cay changed on the host, such as kernel settings; it works when Cay is not running, too.",
            "",
            "Examples:",
            "  sudo ./cay down",
            "  sudo ./cay down --all"
        })
final class DownCommand implements Callable<Integer> {
    /// The main class of every Cay process, as command lines name it.
    private static final String MAIN = "dev.cay.cli.Main";

    /// Longer than a daemon pauses its sandboxes and saves those that are only frozen.
    private static final Duration LIMIT = Duration.ofMinutes(2);

    private static final Duration LIMIT_ALL = Duration.ofMinutes(10);
    private static final Duration LOOK_EVERY = Duration.ofMillis(20);

    @Mixin
    private ConfigOptions options = new ConfigOptions();

    @Option(names = "--all", description = "End all sandboxes too, paused ones included. What is in them is lost.")
    private boolean all;

    @Override
    public Integer call() throws Exception {
        CayConfig config = options.config();
        Root.require("down", "to stop what root started", options.command("down"));
        if (all) {
            TidyCommand.run(System.err);
        }
        if (!Files.isDirectory(config.stateDir())) {
            System.out.println("Cay is not running.");
            return 0;
        }
        var lock = InstanceLock.take(config.stateDir());
        if (lock.isEmpty()) {
            return stop(config, InstanceLock.holder(config.stateDir()));
        }
        try (var _ = lock.get()) {
            if (all) {
                return cleanUp(config, "Cay was not running; no sandbox is left.");
            }
            Files.deleteIfExists(RunFile.in(config.runDir()));
            System.out.println("Cay is not running; sandboxes it left, if any, keep running (--all ends them).");
            return 0;
        }
    }

    private static int cleanUp(CayConfig config, String done) throws IOException {
        Files.deleteIfExists(RunFile.in(config.runDir()));
        // After a reboot the directory is missing, because it is in memory.
        Files.createDirectories(config.runDir());
        // Silent: removing host resources first adds missing ones, and reporting that would only confuse.
        try (var daemon = new CayDaemon(config, Progress.silent())) {
            daemon.killAll();
        }
        System.out.println(done);
        return 0;
    }

    private int stop(CayConfig config, ProcessHandle daemon) throws Exception {
        if (!isCay(daemon)) {
            throw new CayException(
                    ErrorKind.CONFLICT,
                    "pid %d holds the lock of %s but is not Cay; look at it before you stop it"
                            .formatted(daemon.pid(), config.stateDir()));
        }
        if (all) {
            StopRequest.askEndAll(config.runDir());
        }
        var process = HostProcess.of(daemon.pid());
        daemon.destroy();
        awaitEnd(process, all ? LIMIT_ALL : LIMIT);
        var answered = StopRequest.answered(config.runDir());
        if (all && answered.isEmpty()) {
            return finish(config);
        }
        System.out.println(answered.orElse("Cay stopped."));
        return 0;
    }

    /// Takes off the host what the daemon should have taken off before it ended, and could not.
    private int finish(CayConfig config) throws IOException {
        try (var _ = InstanceLock.take(config.stateDir())
                .orElseThrow(() -> new CayException(
                        ErrorKind.UNAVAILABLE, "Cay stopped and was started again before all sandboxes were ended"))) {
            return cleanUp(config, "Cay stopped; no sandbox is left.");
        }
    }

    /// Waits for the end of the process. Not by the process handle, which waits until the parent has read the exit
    /// status: some parents never do.
    private void awaitEnd(HostProcess daemon, Duration limit) throws InterruptedException {
        long end = System.nanoTime() + limit.toNanos();
        while (daemon.runs()) {
            if (System.nanoTime() > end) {
                throw new CayException(
                        ErrorKind.DEADLINE_EXCEEDED,
                        "Cay (pid %d) has not stopped within %d s; `sudo %s` may say why"
                                .formatted(daemon.pid(), limit.toSeconds(), options.command("logs")));
            }
            TimeUnit.MILLISECONDS.sleep(LOOK_EVERY.toMillis());
        }
    }

    static boolean isCay(ProcessHandle process) throws IOException {
        Path commandLine = Path.of("/proc", Long.toString(process.pid()), "cmdline");
        return Files.readString(commandLine, java.nio.charset.StandardCharsets.ISO_8859_1)
                .contains(MAIN);
    }
}
