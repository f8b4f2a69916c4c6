package dev.cay.node.process;

import com.google.protobuf.InvalidProtocolBufferException;
import dev.cay.life.WholeFile;
import dev.cay.node.guest.Exit;
import dev.cay.wire.process.ProcessConfig;
import dev.cay.wire.process.ProcessInfo;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// The folder with a process's logs and the facts that a later daemon needs. All methods do file work.
///
/// @param number unique, because pids are reused; the guest keeps it as the process's tag
record ProcessFolder(Path path, long number) {
    /// The facts about a process that the guest does not know.
    ///
    /// @param user        name of its user
    /// @param deadline    when it is to be killed, by {@link CommandClock}; null for never
    /// @param memoryKills how many processes the kernel had killed for lack of memory before it
    record About(
            ProcessInfo info,
            String user,
            boolean terminal,
            @Nullable Instant deadline,
            long memoryKills) {
        private About movedBy(Duration time) {
            return new About(info, user, terminal, deadline == null ? null : deadline.plus(time), memoryKills);
        }

        About withTerminal(boolean is) {
            return new About(info, user, is, deadline, memoryKills);
        }
    }

    private static final String ABOUT = "about";
    private static final String EXIT = "exit";
    /// Marker of the second version of the file; files of the first version begin with the length of a user's name.
    private static final short SECOND = (short) 0xFFFF;

    private static final long NEVER = Long.MAX_VALUE;

    static List<ProcessFolder> list(Path table) throws IOException {
        var folders = new ArrayList<ProcessFolder>();
        try (var entries = Files.newDirectoryStream(table, entry -> Files.isDirectory(entry))) {
            for (Path entry : entries) {
                folders.add(new ProcessFolder(
                        entry, Long.parseLong(entry.getFileName().toString())));
            }
        }
        return folders;
    }

    /// Moves the deadlines of all processes in a table that is not open.
    static void moveDeadlines(Path table, Duration by) throws IOException {
        for (var folder : list(table)) {
            var about = folder.about(0);
            if (about.isPresent() && about.get().deadline() != null) {
                folder.create(about.get().movedBy(by));
            }
        }
    }

    static ProcessFolder in(Path table, long number) {
        return new ProcessFolder(table.resolve(Long.toString(number)), number);
    }

    /// Creates the folder before the process starts, so that no crash leaves a process without one.
    ///
    /// @param now by {@link CommandClock}
    About create(Launch launch, Instant now, long memoryKills) throws IOException {
        var shown = launch.shown();
        var config = ProcessConfig.newBuilder()
                .setCmd(shown.getFirst())
                .addAllArgs(shown.subList(1, shown.size()))
                .putAllEnvs(launch.requested())
                .setCwd(launch.cwd());
        var info = ProcessInfo.newBuilder().setConfig(config);
        if (launch.tag() != null) {
            info.setTag(launch.tag());
        }
        var deadline = launch.limit() == null ? null : now.plus(launch.limit());
        var about = new About(info.build(), launch.user(), launch.terminal() != null, deadline, memoryKills);
        create(about);
        return about;
    }

    void create(About about) throws IOException {
        var bytes = new ByteArrayOutputStream();
        try (var out = new DataOutputStream(bytes)) {
            out.writeShort(SECOND);
            out.writeUTF(about.user());
            out.writeBoolean(about.terminal());
            out.writeLong(about.deadline() == null ? NEVER : about.deadline().toEpochMilli());
            about.info().writeTo(out);
        }
        Files.createDirectories(path);
        WholeFile.write(path.resolve(ABOUT), bytes.toByteArray());
    }

    /// @param memoryKills up to now, as those before are not in the file
    Optional<About> about(long memoryKills) throws IOException {
        byte[] bytes;
        try {
            bytes = Files.readAllBytes(path.resolve(ABOUT));
        } catch (NoSuchFileException e) {
            return Optional.empty();
        }
        var in = new DataInputStream(new ByteArrayInputStream(bytes));
        try {
            boolean second = bytes.length > 1 && ByteBuffer.wrap(bytes).getShort() == SECOND;
            in.skipNBytes(second ? Short.BYTES : 0);
            String user = in.readUTF();
            boolean terminal = in.readBoolean();
            long deadline = second ? in.readLong() : NEVER;
            return Optional.of(new About(
                    ProcessInfo.parseFrom(in),
                    user,
                    terminal,
                    deadline == NEVER ? null : Instant.ofEpochMilli(deadline),
                    memoryKills));
        } catch (EOFException | InvalidProtocolBufferException e) {
            return Optional.empty();
        }
    }

    /// Writes the exit. Once the guest forgets the process, only this file has it.
    void writeExit(int pid, Exit exit) throws IOException {
        var bytes = new ByteArrayOutputStream();
        try (var out = new DataOutputStream(bytes)) {
            out.writeInt(pid);
            out.writeInt(exit.code());
            out.writeInt(exit.signal());
            out.writeBoolean(exit.coreDumped());
            out.writeBoolean(exit.outOfMemory());
        }
        WholeFile.write(path.resolve(EXIT), bytes.toByteArray());
    }

    record Ended(int pid, Exit exit) {}

    @Nullable
    Ended exit() throws IOException {
        try (var in = new DataInputStream(Files.newInputStream(path.resolve(EXIT)))) {
            // The last byte is not in what an earlier version wrote.
            return new Ended(in.readInt(), new Exit(in.readInt(), in.readInt(), in.readBoolean(), in.read() == 1));
        } catch (NoSuchFileException | EOFException _) {
            return null;
        }
    }

    void delete() throws IOException {
        try (var entries = Files.newDirectoryStream(path)) {
            for (Path entry : entries) {
                Files.deleteIfExists(entry);
            }
            Files.deleteIfExists(path);
        } catch (NoSuchFileException | DirectoryNotEmptyException _) {
            // Deleted already, or another thread still writes there; the next table deletes it.
        }
    }
}
