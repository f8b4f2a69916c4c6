package dev.cay.node.process;

import java.util.Arrays;

/// The order in which output of several streams arrived, as runs of bytes of one stream. Used under the process's lock.
///
/// Kept only from the position of the slowest subscriber, and never longer than {@link #LIMIT}: then the process waits.
final class Journal {
    static final int LIMIT = 4096;

    private Channel[] channels = new Channel[16];
    private int[] lengths = new int[16];
    private long first;
    private long next;

    /// The number after that of the newest run.
    long next() {
        return next;
    }

    boolean hasRoom(Channel channel) {
        return next - first < LIMIT || channel(next - 1) == channel;
    }

    void append(Channel channel, int count) {
        if (next > first && channel(next - 1) == channel && length(next - 1) < Integer.MAX_VALUE - count) {
            lengths[slot(next - 1)] += count;
            return;
        }
        if (next - first == channels.length) {
            grow();
        }
        channels[slot(next)] = channel;
        lengths[slot(next)] = count;
        next++;
    }

    Channel channel(long run) {
        return channels[slot(run)];
    }

    int length(long run) {
        return lengths[slot(run)];
    }

    boolean knows(long run) {
        return run >= first && run < next;
    }

    /// Removes runs before this one, which no subscriber needs any more.
    void trim(long run) {
        first = Math.max(first, Math.min(run, next));
    }

    private int slot(long run) {
        return (int) (run & (channels.length - 1));
    }

    private void grow() {
        Channel[] oldChannels = channels;
        int[] oldLengths = lengths;
        int mask = oldChannels.length - 1;
        channels = Arrays.copyOf(oldChannels, 2 * oldChannels.length);
        lengths = Arrays.copyOf(oldLengths, channels.length);
        for (long run = first; run < next; run++) {
            channels[slot(run)] = oldChannels[(int) (run & mask)];
            lengths[slot(run)] = oldLengths[(int) (run & mask)];
        }
    }
}
