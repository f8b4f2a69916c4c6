package dev.cay.http;

import dev.cay.wire.SandboxId;
import java.io.IOException;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import org.eclipse.jetty.io.ManagedSelector;
import org.eclipse.jetty.io.SocketChannelEndPoint;
import org.eclipse.jetty.util.BufferUtil;
import org.eclipse.jetty.util.thread.Scheduler;
import org.jspecify.annotations.Nullable;

/// An accepted connection that knows its listener, can be reset, and can be watched for a client that disconnects.
///
/// Jetty does not read an HTTP/1.1 connection while it answers a request, so it would never notice a client that leaves
/// an idle stream. While the connection is watched, this class reads instead: the end of the input is reported, all
/// other bytes (the next request, a TLS record) are kept and returned by {@link #fill} when Jetty reads again.
final class ClientEndPoint extends SocketChannelEndPoint implements ClientConnection {
    private static final int MAY_KEEP = 4096;

    private final ListeningPort listener;
    private final Object reading = new Object();
    private @Nullable Runnable watcher;
    private @Nullable ByteBuffer kept;

    ClientEndPoint(
            SocketChannel channel,
            ManagedSelector selector,
            SelectionKey key,
            Scheduler scheduler,
            ListeningPort listener) {
        super(channel, selector, key, scheduler);
        this.listener = listener;
    }

    ListeningPort listener() {
        return listener;
    }

    @Override
    public @Nullable SandboxId inside() {
        return listener.inside();
    }

    @Override
    public RateLimiter unwanted() {
        return listener.unwanted();
    }

    @Override
    public void cut() {
        try {
            getChannel().setOption(StandardSocketOptions.SO_LINGER, 0);
        } catch (IOException | RuntimeException e) {
            // The connection is closed already, or the peer closed first, so there is nobody left to see the
            // difference.
        }
        close();
    }

    @Override
    public void watch(Runnable gone) {
        synchronized (reading) {
            watcher = gone;
        }
        super.needsFillInterest();
    }

    @Override
    public void unwatch() {
        synchronized (reading) {
            watcher = null;
        }
    }

    @Override
    public @Nullable Runnable onSelected() {
        Runnable task = super.onSelected();
        synchronized (reading) {
            if (watcher == null) {
                return task;
            }
        }
        return () -> {
            look();
            if (task != null) {
                task.run();
            }
        };
    }

    @Override
    public int fill(ByteBuffer buffer) throws IOException {
        synchronized (reading) {
            if (kept == null) {
                return super.fill(buffer);
            }
            int position = BufferUtil.flipToFill(buffer);
            int moved = BufferUtil.put(kept, buffer);
            BufferUtil.flipToFlush(buffer, position);
            if (!kept.hasRemaining()) {
                kept = null;
            }
            return moved;
        }
    }

    @Override
    protected void needsFillInterest() {
        synchronized (reading) {
            if (kept == null) {
                super.needsFillInterest();
                return;
            }
        }
        // The kernel does not report bytes that this class already holds.
        Thread.startVirtualThread(() -> getFillInterest().fillable());
    }

    private void look() {
        Runnable gone;
        synchronized (reading) {
            gone = watcher;
            if (gone == null || keepMore()) {
                return;
            }
            watcher = null;
        }
        gone.run();
    }

    /// Reads the available bytes; false at the end of the input.
    private boolean keepMore() {
        var room = ByteBuffer.allocate(MAY_KEEP - (kept == null ? 0 : kept.remaining()));
        try {
            int count = getChannel().read(room);
            if (count < 0) {
                return false;
            }
            room.flip();
            if (count > 0) {
                kept = kept == null ? room : joined(kept, room);
            }
        } catch (IOException e) {
            return false;
        }
        // A client that sends this much ahead is not watched further: its bytes must wait in the kernel.
        if (kept == null || kept.remaining() < MAY_KEEP) {
            super.needsFillInterest();
        }
        return true;
    }

    private static ByteBuffer joined(ByteBuffer first, ByteBuffer second) {
        return ByteBuffer.allocate(first.remaining() + second.remaining())
                .put(first)
                .put(second)
                .flip();
    }
}
