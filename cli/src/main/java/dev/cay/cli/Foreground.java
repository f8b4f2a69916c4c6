package dev.cay.cli;

import dev.cay.cli.local.ConfigOptions;
import dev.cay.cli.local.KeyFile;
import dev.cay.cli.local.RunFile;
import dev.cay.cli.local.StartReport;
import dev.cay.config.CayConfig;
import dev.cay.node.host.HostLedger;
import dev.cay.node.host.Programs;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The life of a daemon process: from its lock on the state directory to its last line.
///
/// One thread does everything in order, start and stop alike. The shutdown hook, which a signal starts, only wakes that
/// thread and waits until it is through, so a start that is cut short ends by the same path as a daemon that served
/// for weeks.
final class Foreground {
    /// Shorter than the time limit of service managers.
    private static final Duration PAUSE_LIMIT = Duration.ofSeconds(70);

    private static final Duration ASK_LIMIT = Duration.ofSeconds(5);

    private static final Logger log = LoggerFactory.getLogger(Foreground.class);

    private static final Duration STOP_LIMIT = Duration.ofMinutes(10);

    private final CayConfig config;
    private final ConfigOptions options;
    private final PrintStream out;
    private final InstantSource clock;
    private final CountDownLatch ended = new CountDownLatch(1);
    private volatile boolean stopping;

    /// @param options how the configuration was named, for the commands that are shown to the user
    Foreground(CayConfig config, ConfigOptions options, PrintStream out, InstantSource clock) {
        this.config = config;
        this.options = options;
        this.out = out;
        this.clock = clock;
    }

    int run() throws Exception {
        makeDirectories();
        try (var _ = InstanceLock.take(config.stateDir()).orElseThrow(this::alreadyRunning)) {
            new StateDirectory(config.stateDir(), List.of(config.runDir(), config.cacheDir())).close();
            new StagedState(config.stateDir()).requireSettled(out, options.command("restore FILE"));
            new RestoredStore(config).end();
            DaemonLog.open(config.stateDir());
            StopRequest.clear(config.runDir());
            Files.deleteIfExists(RunFile.in(config.runDir()));
            CayDaemon.join(config);
            var usable = Listening.check(config.http());
            Runtime.getRuntime().addShutdownHook(new Thread(stopper(Thread.currentThread()), "stop"));
            sayFarewell(serve(config.withListen(usable)));
            return 0;
        } finally {
            ended.countDown();
        }
    }

    /// Returns the message to print once everything is closed.
    private String serve(CayConfig effective) throws Exception {
        var progress = new ConsoleProgress(out, clock);
        log.atInfo()
                .addKeyValue("what", "java, settings, ports")
                .addKeyValue("ms", sinceExec().toMillis())
                .log("start");
        try (var daemon = new CayDaemon(effective, progress)) {
            try {
                daemon.start();
                announce(daemon.report());
                new CountDownLatch(1).await();
            } catch (Exception e) {
                // Whatever a start throws after an interrupt, the cause is the signal.
                if (!stopping) {
                    throw e;
                }
            } finally {
                Files.deleteIfExists(RunFile.in(config.runDir()));
            }
            Thread.interrupted();
            return stop(daemon);
        } catch (Exception e) {
            // Logged here, because the process ends as soon as this thread does.
            log.atError().setCause(e).log(stopping ? "could not stop in order" : "could not start");
            throw e;
        }
    }

    /// How long this process exists, in the kernel's own ticks of 10 ms; zero if unknown. The JDK's answer is based
    /// on the time of boot, which has a precision of a second.
    private static Duration sinceExec() {
        try {
            String status = Files.readString(Path.of("/proc/self/stat"));
            String began = status.substring(status.lastIndexOf(')') + 2).split(" ")[19];
            String now = Files.readString(Path.of("/proc/uptime")).split(" ")[0].replace(".", "");
            return Duration.ofMillis((Long.parseLong(now) - Long.parseLong(began)) * 10);
        } catch (IOException | NumberFormatException _) {
            return Duration.ZERO;
        }
    }

    /// Makes the directories; {@link StateDirectory} says who may read them.
    private void makeDirectories() {
        make("stateDir", config.stateDir(), StateDirectory.PASSABLE);
        make("stateDir", DaemonLog.directory(config.stateDir()), "rwx------");
        make("runDir", config.runDir(), "rwxr-xr-x");
        make("cacheDir", config.cacheDir(), null);
    }

    private static void make(String key, Path directory, @Nullable String permissions) {
        try {
            Files.createDirectories(directory);
            if (permissions != null) {
                Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString(permissions));
            }
            Files.delete(Files.createTempFile(directory, ".cay-", ".try"));
        } catch (IOException e) {
            String reason = e instanceof FileSystemException known && known.getReason() != null
                    ? known.getReason()
                    : e.getClass().getSimpleName().replace("Exception", "");
            throw new CayException(
                    ErrorKind.UNAVAILABLE,
                    "%s cannot be written to (%s); fix that, or set another %s".formatted(directory, reason, key),
                    e);
        }
    }

    private CayException alreadyRunning() {
        try {
            long pid = InstanceLock.holder(config.stateDir()).pid();
            var other = HostLedger.ofHost().instances().stream()
                    .filter(claim -> claim.pid() == pid && !claim.instance().equals(config.instance()))
                    .findFirst();
            return new CayException(
                    ErrorKind.ALREADY_EXISTS,
                    other.map(claim -> "stateDir %s is that of instance \"%s\" (pid %d); each needs its own stateDir"
                                    .formatted(config.stateDir(), claim.instance(), pid))
                            .orElse("already running, pid %d; stop it with: sudo %s"
                                    .formatted(pid, options.command("down"))));
        } catch (IOException e) {
            return new CayException(ErrorKind.ALREADY_EXISTS, "already running", e);
        }
    }

    private Runnable stopper(Thread main) {
        return () -> {
            if (ended.getCount() == 0) {
                return;
            }
            stopping = true;
            main.interrupt();
            try {
                // Ends here and not by returning: a daemon that was asked to stop did so without an error.
                Runtime.getRuntime().halt(ended.await(STOP_LIMIT.toSeconds(), TimeUnit.SECONDS) ? 0 : 1);
            } catch (InterruptedException _) {
                Runtime.getRuntime().halt(1);
            }
        };
    }

    /// Saves the key before the run file says that Cay is ready: a script that waits for that finds the key.
    private void announce(StartReport report) throws IOException {
        var key = saveKey(report.firstKey());
        RunFile.of(report, config.instance(), config.stateDir()).write(config.runDir());
        log.atInfo()
                .addKeyValue("url", report.url())
                .addKeyValue("running", report.running())
                .addKeyValue("ms", report.took().toMillis())
                .log("ready");
        out.println();
        out.println("Cay is ready after %s, pid %d%s"
                .formatted(
                        ConsoleProgress.seconds(report.took()),
                        ProcessHandle.current().pid(),
                        report.running() == 0 ? "" : "; " + sandboxes(report.running()) + " found alive"));
        out.println("  API        " + report.url());
        out.println("  dashboard  " + report.url() + "/dashboard");
        out.println("  sandboxes  https://PORT-SANDBOX." + report.domain());
        key.forEach(out::println);
        out.println();
        out.println("""
                In another terminal:
                  eval "$(%s)"
                  python3 -c 'from e2b import Sandbox; print(Sandbox.create().commands.run("uname -a").stdout)'
                """.formatted(System.getProperty("cay.home", ".")
                + options.command("env").substring(1)));
        out.println("Stop with Ctrl-C or `sudo %s`.".formatted(options.command("down")));
        out.println(Background.LAST_LINE);
        if (Boolean.getBoolean(Background.PROPERTY)) {
            DaemonLog.leaveConsole();
            DaemonLog.keepSmall(Background.output(config.stateDir()));
        }
    }

    /// @return messages about it
    private List<String> saveKey(@Nullable String key) {
        if (key == null) {
            return List.of("  API key    as before; `%s` prints it".formatted(options.command("env")));
        }
        String shown = "  API key    " + key;
        try {
            var users = KeyFile.save(key, config.instance(), System.getenv());
            return List.of(
                    shown,
                    "             saved in ~/.config/cay/%s of %s"
                            .formatted(KeyFile.name(config.instance()), String.join(" and ", users)));
        } catch (CayException e) {
            log.atWarn().setCause(e).log("the API key could not be saved; keep the line that shows it");
            return List.of(shown);
        }
    }

    private String stop(CayDaemon daemon) throws IOException {
        if (StopRequest.take(config.runDir())) {
            daemon.killAll();
            return "Cay stopped; no sandbox is left.";
        }
        int before = daemon.running();
        if (pausesNow()) {
            daemon.pauseAll(PAUSE_LIMIT);
        }
        int running = daemon.running();
        if (running == 0 && before > 0) {
            return "Cay stopped; its sandboxes are paused, and the next request for one resumes it.";
        }
        return switch (running) {
            case 0 -> "Cay stopped; no sandbox was running.";
            case 1 ->
                "Cay stopped; 1 sandbox keeps running. `sudo %s` finds it again, `sudo %s` ends it."
                        .formatted(options.command("up"), options.command("down --all"));
            default ->
                "Cay stopped; %d sandboxes keep running. `sudo %s` finds them again, `sudo %s` ends them."
                        .formatted(running, options.command("up"), options.command("down --all"));
        };
    }

    /// Whether to pause sandboxes now: because they would be lost otherwise, or the operator configured it.
    private boolean pausesNow() {
        return switch (config.sandboxes().pauseAtStop()) {
            case "always" -> true;
            case "reboot" ->
                Programs.ofHost()
                        .run(ASK_LIMIT, "systemctl", "is-system-running")
                        .output()
                        .strip()
                        .equals("stopping");
            default -> false;
        };
    }

    private void sayFarewell(String text) throws IOException {
        StopRequest.answer(config.runDir(), text);
        log.atInfo().log("stopped");
        out.println();
        out.println(text);
    }

    private static String sandboxes(int count) {
        return count == 1 ? "1 sandbox" : count + " sandboxes";
    }
}
