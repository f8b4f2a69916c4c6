package dev.cay.node.process;

import dev.cay.node.guest.GuestProcess;
import dev.cay.wire.process.ProcessInfo;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Brings together what a guest says runs and what an earlier daemon wrote down. All of it is file work.
final class Adoption {
    private static final Logger log = LoggerFactory.getLogger(Adoption.class);

    private final ProcessTable table;
    private final Path directory;
    private final Map<Long, ProcessFolder> folders = new HashMap<>();
    private final long memoryKills;
    private long next;

    Adoption(ProcessTable table, Path directory) {
        this.table = table;
        this.directory = directory;
        this.memoryKills = table.memoryKills();
    }

    /// @param found by the guest; its tags are our folders' numbers, unless somebody inside speaks for it
    Cursors run(List<GuestProcess> found) throws IOException {
        Files.createDirectories(directory);
        for (var folder : ProcessFolder.list(directory)) {
            folders.put(folder.number(), folder);
            next = Math.max(next, folder.number());
        }
        var cursors = new Cursors(directory.resolve("cursors"));
        table.open(cursors, next + found.size());
        for (var process : found) {
            try {
                adopt(process, cursors);
            } catch (IOException e) {
                log.atWarn().setCause(e).addKeyValue("pid", process.pid()).log("a process was not taken over");
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
        var known = folder.about(memoryKills);
        var streams = table.link().attach(found.pid());
        boolean terminal = streams.terminal();
        var about = known.orElse(
                new ProcessFolder.About(ProcessInfo.getDefaultInstance(), "", terminal, null, memoryKills));
        if (known.isEmpty() || about.terminal() != terminal) {
            about = about.withTerminal(terminal);
            folder.create(about);
        }
        var logs = table.recoverLogs(folder, terminal);
        var process = table.register(folder, about, logs, found.pid(), streams);
        expect(process, cursors.recover(folder.number()));
        process.begin();
        if (found.exit() != null) {
            process.exited(found.exit());
        }
        table.settleEarly(process);
        process.killAt(about.deadline());
    }

    private ProcessFolder folderOf(GuestProcess found) {
        ProcessFolder folder = null;
        if (found.tag().matches("[0-9]{1,18}")) {
            folder = folders.remove(Long.parseLong(found.tag()));
        }
        return folder != null ? folder : ProcessFolder.in(directory, ++next);
    }

    /// One that was over before: it can still be connected to for a while.
    private void retain(ProcessFolder folder, Cursors cursors) throws IOException {
        var ended = folder.exit();
        var about = folder.about(memoryKills);
        if (ended == null || about.isEmpty()) {
            folder.delete();
            return;
        }
        var logs = table.recoverLogs(folder, about.get().terminal());
        logs.values().forEach(OutputLog::close);
        if (table.find(new Selector.Pid(ended.pid())).isPresent()) {
            folder.delete();
            return;
        }
        var process = table.register(folder, about.get(), logs, ended.pid(), null);
        expect(process, cursors.recover(folder.number()));
        process.retain(ended.exit());
    }

    private static void expect(SandboxProcess process, Cursors.@Nullable Place sent) {
        if (sent != null) {
            process.audience().expect(sent);
        }
    }
}
