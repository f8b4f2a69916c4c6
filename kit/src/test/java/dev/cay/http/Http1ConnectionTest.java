package dev.cay.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.testing.Fast;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.eclipse.jetty.io.ArrayByteBufferPool;
import org.eclipse.jetty.io.RetainableByteBuffer;
import org.eclipse.jetty.server.HttpConfiguration;
import org.eclipse.jetty.server.LocalConnector;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.internal.HttpConnection;
import org.eclipse.jetty.util.Callback;
import org.eclipse.jetty.util.thread.VirtualThreadPool;
import org.junit.jupiter.api.Test;

@Fast
class Http1ConnectionTest {
    /// With Jetty's own factory the second reader is through before the first goes on.
    @Test
    void afterABadHeadOneThreadAtATimeReads() throws Exception {
        var threads = new HoldsTheFirstReader();
        var server = new Server(threads);
        var connector = new LocalConnector(server, new Http1Connection.Factory(new HttpConfiguration()));
        server.addConnector(connector);
        server.start();
        try {
            String answer = connector.getResponse("GET / HTTP/1.1\r\nHost x\r\n\r\n");
            assertThat(answer).startsWith("HTTP/1.1 400 ");
            assertThat(threads.decided.await(TestHttp.LIMIT.toSeconds(), TimeUnit.SECONDS))
                    .isTrue();
            assertThat(threads.state.get()).as("the second reader meanwhile").isEqualTo(Thread.State.WAITING);
            assertThat(threads.readOn.await(TestHttp.LIMIT.toSeconds(), TimeUnit.SECONDS))
                    .isTrue();
        } finally {
            server.stop();
        }
    }

    /// With Jetty's own factory the second thread takes a buffer, too.
    @Test
    void whoComesWhileAnotherReadsTheBodyLeavesItAlone() throws Exception {
        var buffers = new HoldsTheReader();
        var server = new Server(new VirtualThreadPool(), null, buffers);
        var connector = new LocalConnector(server, new Http1Connection.Factory(new HttpConfiguration()));
        server.addConnector(connector);
        var consumed = new AtomicReference<Boolean>();
        server.setHandler(new org.eclipse.jetty.server.Handler.Abstract() {
            @Override
            public boolean handle(Request request, Response response, Callback callback) throws Exception {
                // Nothing came with the head, so its buffer is given back, and the next to look needs another.
                request.read();
                buffers.armed = true;
                Thread reader = Thread.startVirtualThread(request::read);
                buffers.held.await(TestHttp.LIMIT.toSeconds(), TimeUnit.SECONDS);
                consumed.set(request.consumeAvailable());
                buffers.go.countDown();
                reader.join(TestHttp.LIMIT);
                callback.succeeded();
                return true;
            }
        });
        server.start();
        try {
            assertThat(connector.getResponse("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n"))
                    .startsWith("HTTP/1.1 ");
            assertThat(buffers.held.getCount()).as("another reads the body").isZero();
            assertThat(consumed.get()).isFalse();
            assertThat(buffers.meanwhile.get()).isZero();
        } finally {
            server.stop();
        }
    }

    /// Keeps who takes a buffer for a body from going on, and counts who else takes one meanwhile.
    private static final class HoldsTheReader extends ArrayByteBufferPool {
        final CountDownLatch held = new CountDownLatch(1);
        final CountDownLatch go = new CountDownLatch(1);
        final AtomicInteger meanwhile = new AtomicInteger();
        volatile boolean armed;

        @Override
        public RetainableByteBuffer.Mutable acquire(int size, boolean direct) {
            if (armed && held.getCount() > 0) {
                held.countDown();
                try {
                    go.await(TestHttp.LIMIT.toSeconds(), TimeUnit.SECONDS);
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
            } else if (armed && go.getCount() > 0) {
                meanwhile.incrementAndGet();
            }
            return super.acquire(size, direct);
        }
    }

    /// Keeps the thread that found a bad head from going on until the one that reads after the answer is
    /// through, or waits.
    private static final class HoldsTheFirstReader extends VirtualThreadPool {
        final CountDownLatch decided = new CountDownLatch(1);
        final CountDownLatch readOn = new CountDownLatch(1);
        final AtomicReference<Thread.State> state = new AtomicReference<>(Thread.State.NEW);
        private final AtomicReference<Thread> second = new AtomicReference<>();

        @Override
        public void execute(Runnable task) {
            if (task instanceof HttpConnection) {
                super.execute(() -> {
                    second.set(Thread.currentThread());
                    task.run();
                    readOn.countDown();
                });
            } else if (HttpConnection.getCurrentConnection() == null) {
                super.execute(task);
            } else {
                super.execute(task);
                hold();
                decided.countDown();
            }
        }

        private void hold() {
            long end = System.nanoTime() + TestHttp.LIMIT.toNanos();
            while (state.get() == Thread.State.NEW && System.nanoTime() < end) {
                Thread.onSpinWait();
                Thread reader = second.get();
                if (readOn.getCount() == 0) {
                    state.set(Thread.State.TERMINATED);
                } else if (reader != null && reader.getState() == Thread.State.WAITING) {
                    state.set(Thread.State.WAITING);
                }
            }
        }
    }
}
