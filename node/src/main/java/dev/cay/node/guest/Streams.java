package dev.cay.node.guest;

import dev.cay.node.linux.Descriptor;
import dev.cay.node.linux.DescriptorIo;
import dev.cay.node.linux.FileCalls;
import java.io.IOException;
import java.net.ProtocolException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The node's ends of a process's streams, which its guest passed.
///
/// Pipes are reopened: root inside has the same open file, and could make calls on it block by clearing its O_NONBLOCK.
/// A terminal cannot be reopened, so guests copy it to and from pipes; a terminal of a guest too old for that is shared
/// with the sandbox, and a call on it may block.
///
/// @param terminal whether the process has a terminal; then stdin and stdout are the copy's pipes, or there is a master
/// @param master   of a terminal that is shared with the sandbox
/// @param stdin    null when it is not a pipe or was closed
public record Streams(
        int pid,
        boolean terminal,
        @Nullable Descriptor master,
        @Nullable Descriptor stdin,
        @Nullable Descriptor stdout,
        @Nullable Descriptor stderr)
        implements AutoCloseable {
    /// The descriptors that a guest passes, in this order: stdin, stdout, stderr.
    enum Kind {
        PIPES(2),
        PIPES_WITH_STDIN(3),
        COPIED_TERMINAL(2),
        SHARED_TERMINAL(1);

        private final int count;

        Kind(int count) {
            this.count = count;
        }

        /// The number of descriptors.
        int count() {
            return count;
        }
    }

    /// Takes the guest's descriptors. Root inside can pass anything; only pipes and terminals are accepted, because
    /// writing to other files could have effects.
    ///
    /// @param lent closed here, except for a terminal
    static Streams borrow(int pid, Kind kind, List<Descriptor> lent) throws IOException {
        var ends = new ArrayList<Descriptor>();
        try {
            if (kind == Kind.SHARED_TERMINAL) {
                requireTerminal(lent.getFirst());
                return new Streams(pid, true, lent.getFirst(), null, null, null);
            }
            boolean input = kind != Kind.PIPES;
            for (var end : lent) {
                boolean write = input && ends.isEmpty();
                ends.add(DescriptorIo.reopenPipe(end, write ? FileCalls.WRITE : FileCalls.READ));
            }
            lent.forEach(Descriptor::close);
        } catch (IOException e) {
            ends.forEach(Descriptor::close);
            lent.forEach(Descriptor::close);
            throw e;
        }
        boolean terminal = kind == Kind.COPIED_TERMINAL;
        Descriptor stdin = kind == Kind.PIPES ? null : ends.removeFirst();
        return new Streams(pid, terminal, null, stdin, ends.get(0), terminal ? null : ends.get(1));
    }

    private static void requireTerminal(Descriptor master) throws IOException {
        if (!FileCalls.stat(master).terminalMaster()) {
            throw new ProtocolException("a descriptor that is no terminal");
        }
        DescriptorIo.setNonBlocking(master);
    }

    @Override
    public void close() {
        for (var end : new @Nullable Descriptor[] {master, stdin, stdout, stderr}) {
            if (end != null) {
                end.close();
            }
        }
    }
}
