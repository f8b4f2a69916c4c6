package dev.cay.node.lines;

import java.nio.charset.StandardCharsets;

/// The last bytes of an output. Thread-safe.
public final class Tail {
    private final int most;
    private byte[] bytes = {};
    private boolean cut;

    /// @param most how many bytes are kept
    public Tail(int most) {
        this.most = most;
    }

    synchronized void add(byte[] chunk, int count) {
        int kept = Math.min(bytes.length, Math.max(0, most - count));
        int added = Math.min(count, most);
        cut |= kept < bytes.length || added < count;
        var joined = new byte[kept + added];
        System.arraycopy(bytes, bytes.length - kept, joined, 0, kept);
        System.arraycopy(chunk, count - added, joined, kept, added);
        bytes = joined;
    }

    /// Whether there was more, before it.
    public synchronized boolean isCut() {
        return cut;
    }

    public synchronized String text() {
        return new String(bytes, StandardCharsets.UTF_8);
    }
}
