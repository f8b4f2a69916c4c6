package dev.cay.node.guest;

import dev.cay.node.linux.Descriptor;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Our ends of a process's streams, lent by its guest: either a terminal, or pipes. Checked to be just that, and never
/// blocking unless root inside works at it.
///
/// @param stdin null when it is not a pipe or was closed
public record Streams(
        int pid,
        @Nullable Descriptor terminal,
        @Nullable Descriptor stdin,
        @Nullable Descriptor stdout,
        @Nullable Descriptor stderr)
        implements AutoCloseable {

    static Streams of(int pid, boolean terminal, boolean stdin, List<Descriptor> lent) {
        if (terminal) {
            return new Streams(pid, lent.get(0), null, null, null);
        }
        var rest = new ArrayList<>(lent);
        Descriptor input = stdin ? rest.removeFirst() : null;
        return new Streams(pid, null, input, rest.get(0), rest.get(1));
    }

    static int count(boolean terminal, boolean stdin) {
        return terminal ? 1 : stdin ? 3 : 2;
    }

    List<Descriptor> all() {
        var all = new ArrayList<Descriptor>();
        for (var end : new @Nullable Descriptor[] {terminal, stdin, stdout, stderr}) {
            if (end != null) {
                all.add(end);
            }
        }
        return all;
    }

    @Override
    public void close() {
        all().forEach(Descriptor::close);
    }
}
