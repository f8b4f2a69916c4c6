package dev.cay.node;

import dev.cay.node.host.HostLedger;
import dev.cay.node.host.HostProcess;
import dev.cay.node.host.Mounts;
import dev.cay.node.host.Programs;
import dev.cay.node.host.Reservation;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/// Removes what killed tests and measurements left on the host: their processes, daemons, sandboxes, networks, pools
/// and files. Finds them by their records, never by a pattern that could match something of another program.
///
/// A `cay test` is on record as a file in the ledger's directory `runs`. The file has the name of its process and holds
/// the path of its temporary directory. Everything else is on record as a {@link Reservation}.
public final class Abandoned {
    private static final Duration LIMIT = Duration.ofMinutes(2);
    private static final Duration END_LIMIT = Duration.ofSeconds(30);

    private final HostLedger ledger;
    private final Programs programs = Programs.ofHost();
    private final Attempts steps = new Attempts();

    private Abandoned(HostLedger ledger) {
        this.ledger = ledger;
    }

    /// Ends and removes everything. Records of resources that could not be removed stay, for a later try.
    ///
    /// @return the resources that could not be removed, a sentence each
    public static List<String> remove(HostLedger ledger) {
        var work = new Abandoned(ledger);
        var runs = ledger.deadRuns();
        runs.forEach(run -> work.steps.attempt(run + ": processes", () -> endProcesses(run)));
        for (var found = ledger.takeAbandoned(); found.isPresent(); found = ledger.takeAbandoned()) {
            work.remove(found.get());
        }
        runs.forEach(run -> work.steps.attempt(run.toString(), () -> {
            ledger.runDirectory(run).ifPresent(work::removeDirectory);
            ledger.forgetRun(run);
        }));
        return work.steps.failures();
    }

    private void remove(Reservation left) {
        int before = steps.failures().size();
        var claim = left.claim();
        ledger.daemon(left).ifPresent(daemon -> steps.attempt("daemon of " + left.instance(), () -> end(daemon)));
        var removal = new InstanceRemoval(left.plan(), Path.of(claim.stateDir()), Path.of(claim.runDir()));
        steps.addFailures(left.instance(), removal.run());
        steps.attempt(left.instance() + ": network namespaces", () -> removeNamespaces("cay" + left.instance() + "-"));
        steps.attempt(
                left.instance() + ": files",
                () -> removeDirectory(
                        Path.of(claim.stateDir()).resolveSibling("").normalize()));
        steps.attempt(left.instance() + ": key", () -> programs.require(LIMIT, "rm", "-f", "--", keyFile(left)));
        if (steps.failures().size() == before) {
            ledger.release(left);
        }
    }

    private static String keyFile(Reservation left) {
        return System.getProperty("user.home") + "/.config/cay/key-" + left.instance();
    }

    private void removeNamespaces(String prefix) {
        programs.require(LIMIT, "ip", "netns", "list")
                .lines()
                .map(line -> line.split(" ")[0])
                .filter(name -> name.startsWith(prefix))
                .forEach(name -> programs.require(LIMIT, "ip", "netns", "delete", name));
    }

    private void removeDirectory(Path directory) {
        Mounts.unmountBelow(directory);
        programs.require(LIMIT, "losetup", "--list", "--noheadings", "--output", "NAME,BACK-FILE")
                .lines()
                .map(line -> line.strip().split("\\s+", 2))
                .filter(words -> words.length == 2 && words[1].startsWith(directory + "/"))
                .forEach(words -> programs.require(LIMIT, "losetup", "--detach", words[0]));
        programs.require(LIMIT, "rm", "-rf", "--one-file-system", "--", directory.toString());
    }

    /// Ends all processes that a `cay test` started; they have the run in their environment.
    private static void endProcesses(HostProcess run) {
        byte[] mark = ("\0" + Reservation.RUN + "=" + run + "\0").getBytes(StandardCharsets.US_ASCII);
        String text = new String(mark, StandardCharsets.ISO_8859_1);
        ProcessHandle.allProcesses()
                .map(ProcessHandle::pid)
                .map(HostProcess::of)
                .filter(process -> environment(process).contains(text))
                .forEach(Abandoned::end);
    }

    private static String environment(HostProcess process) {
        try (var in = Files.newInputStream(Path.of("/proc", Long.toString(process.pid()), "environ"))) {
            return "\0" + new String(in.readAllBytes(), StandardCharsets.ISO_8859_1);
        } catch (IOException _) {
            return "";
        }
    }

    private static void end(HostProcess process) {
        if (process.pid() == ProcessHandle.current().pid() || !process.runs()) {
            return;
        }
        ProcessHandle.of(process.pid()).ifPresent(ProcessHandle::destroyForcibly);
        long end = System.nanoTime() + END_LIMIT.toNanos();
        while (process.runs()) {
            if (System.nanoTime() > end || Thread.currentThread().isInterrupted()) {
                throw new IllegalStateException("pid %d does not end".formatted(process.pid()));
            }
            LockSupport.parkNanos(Duration.ofMillis(10).toNanos());
        }
    }
}
