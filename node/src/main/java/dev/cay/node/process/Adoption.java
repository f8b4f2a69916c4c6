package dev.cay.node.process;

import dev.cay.node.guest.GuestProcess;
import dev.cay.wire.process.ProcessInfo;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Matches the processes that a guest reports with the folders that an earlier daemon wrote. Does file work.
final class Adoption {
    private static final Logger log = LoggerFactory.getLogger(Adoption.class);

    private final TableParts parts;
    private final KnownProcesses known;
    private final Path directory;
    private final AtomicLong numbers;
    private final Map<Long, ProcessFolder> folders = new HashMap<>();
    private final long memoryKills;
    private long next;

    /// @param known   where processes go
    /// @param numbers counts folders; set to one that is behind all of them
    Adoption(TableParts parts, KnownProcesses known, Path directory, AtomicLong numbers) {
        this.parts = parts;
        this.known = known;
        this.directory = directory;
        this.numbers = numbers;
        this.memoryKills = parts.memoryKills().getAsLong();
    }

    /// @param found processes reported by the guest; their tags are folder numbers, unless root inside forged them
    /// @return the open cursors; if the caller has stopped waiting, this thread closes them
    Cursors run(List<GuestProcess> found) throws IOException {
        Files.createDirectories(directory);
        for (var folder : ProcessFolder.list(directory)) {
            folders.put(folder.number(), folder);
            next = Math.max(next, folder.number());
        }
        var cursors = new Cursors(directory.resolve("cursors"));
        parts.state().open(cursors);
        numbers.set(next + found.size());
        for (var process : found) {
            try {
                adopt(process, cursors);
            } catch (IOException e) {
                log.atWarn().setCause(e).addKeyValue("pid", process.pid()).log("a process could not be adopted");
            }
        }
        for (var folder : folders.values()) {
            retain(folder, cursors);
        }
        cursors.clearUnclaimed();
        return cursors;
    }

    private void adopt(GuestProcess found, Cursors cursors) throws IOException {
        var folder = folderOf(found);
        var noted = folder.about(memoryKills);
        var streams = parts.guest().attach(found.pid());
        boolean terminal = streams.terminal();
        var about = noted.orElse(
                new ProcessFolder.About(ProcessInfo.getDefaultInstance(), "", terminal, null, memoryKills));
        if (noted.isEmpty() || about.terminal() != terminal) {
            about = about.withTerminal(terminal);
            folder.create(about);
        }
        var logs = recoverLogs(folder, terminal);
        var process = known.register(folder, about, logs, found.pid(), streams);
        expect(process, cursors.recover(folder.number()));
        process.begin();
        if (found.exit() != null) {
            process.exited(found.exit());
        }
        known.settleEarly(process);
        process.killAt(about.deadline());
    }

    private ProcessFolder folderOf(GuestProcess found) {
        ProcessFolder folder = null;
        if (found.tag().matches("[0-9]{1,18}")) {
            folder = folders.remove(Long.parseLong(found.tag()));
        }
        return folder != null ? folder : ProcessFolder.in(directory, ++next);
    }

    /// Keeps a process that had ended before, so that clients can still connect to it for a while.
    private void retain(ProcessFolder folder, Cursors cursors) throws IOException {
        var ended = folder.exit();
        var about = folder.about(memoryKills);
        if (ended == null || about.isEmpty()) {
            folder.delete();
            return;
        }
        var logs = recoverLogs(folder, about.get().terminal());
        logs.values().forEach(OutputLog::close);
        if (known.find(new Selector.Pid(ended.pid())).isPresent()) {
            folder.delete();
            return;
        }
        var process = known.register(folder, about.get(), logs, ended.pid(), null);
        expect(process, cursors.recover(folder.number()));
        process.retain(ended.exit());
    }

    private Map<Channel, OutputLog> recoverLogs(ProcessFolder folder, boolean terminal) throws IOException {
        return OutputLog.recover(folder.path(), parts.settings().logBytes(), terminal);
    }

    private static void expect(SandboxProcess process, Cursors.@Nullable Place sent) {
        if (sent != null) {
            process.audience().expect(sent);
        }
    }
}
