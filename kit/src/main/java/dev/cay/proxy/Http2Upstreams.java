package dev.cay.proxy;

import java.io.EOFException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import javax.net.ssl.SSLEngine;
import org.eclipse.jetty.http2.ErrorCode;
import org.eclipse.jetty.http2.HTTP2Session;
import org.eclipse.jetty.http2.api.Session;
import org.eclipse.jetty.http2.api.Stream;
import org.eclipse.jetty.http2.client.HTTP2Client;
import org.eclipse.jetty.http2.frames.GoAwayFrame;
import org.eclipse.jetty.http2.frames.HeadersFrame;
import org.eclipse.jetty.http2.frames.ResetFrame;
import org.eclipse.jetty.io.ClientConnector;
import org.eclipse.jetty.util.Callback;
import org.eclipse.jetty.util.Promise;
import org.eclipse.jetty.util.ssl.SslContextFactory;
import org.eclipse.jetty.util.thread.VirtualThreadPool;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Connections to servers that speak HTTP/2. One carries many calls at once; another is opened when
/// the server allows no more on it. Jetty's client does the work, on channels that come connected, and is started when
/// the first call comes: most nodes never see one.
final class Http2Upstreams {
    private static final Logger log = LoggerFactory.getLogger(Http2Upstreams.class);
    private static final Duration LIMIT = Duration.ofSeconds(10);
    private static final Duration KEPT = Duration.ofSeconds(30);
    private static final int STREAM_WINDOW = 256 * 1024;
    private static final int SESSION_WINDOW = 2 * 1024 * 1024;

    private static final class Kept {
        private final Upstream upstream;
        private final Session session;
        private final Calls calls;
        private volatile long touched = System.nanoTime();

        Kept(Upstream upstream, Session session, Calls calls) {
            this.upstream = upstream;
            this.session = session;
            this.calls = calls;
        }

        boolean leadsTo(Upstream wanted) {
            return upstream.key().equals(wanted.key()) && upstream.port() == wanted.port();
        }

        boolean idle() {
            return session.getStreams().isEmpty() && System.nanoTime() - touched > KEPT.toNanos();
        }

        /// Closes at once and drops unsent frames: no connection of the node may stay open in the sandbox.
        void cut() {
            session.close(ErrorCode.CANCEL_STREAM_ERROR.code, "cut", Callback.NOOP);
            if (session instanceof HTTP2Session open) {
                open.disconnect();
            }
        }
    }

    private final Set<Kept> open = new HashSet<>();
    private @Nullable HTTP2Client client;

    /// A call under way, until its caller closes it.
    static final class Call implements AutoCloseable {
        private final Stream stream;
        private final Stream.Listener listener;
        private final Calls calls;

        private Call(Stream stream, Stream.Listener listener, Calls calls) {
            this.stream = stream;
            this.listener = listener;
            this.calls = calls;
        }

        Stream stream() {
            return stream;
        }

        /// Cancels the call; has no effect on one that has ended.
        void giveUp() {
            if (!stream.isClosed()) {
                stream.reset(new ResetFrame(stream.getId(), ErrorCode.CANCEL_STREAM_ERROR.code), Callback.NOOP);
            }
        }

        @Override
        public void close() {
            calls.remove(this);
            giveUp();
        }
    }

    static boolean reaches(Upstream upstream) {
        return upstream.tls() == null || upstream.tls().forHttp2() != null;
    }

    /// Sends the head of a call, on a connection that is there or on a new one.
    ///
    /// @throws java.net.ConnectException when the port is closed
    Call begin(Upstream upstream, HeadersFrame head, Stream.Listener listener) throws IOException {
        for (var kept : leadingTo(upstream)) {
            try {
                return begin(kept, head, listener);
            } catch (IOException e) {
                // The kept connection was closed meanwhile, or is full; a new one is made.
                log.atDebug().setCause(e).log("a kept HTTP/2 connection takes no more calls; a new one is opened");
            }
        }
        return begin(connect(upstream), head, listener);
    }

    private synchronized List<Kept> leadingTo(Upstream upstream) {
        open.removeIf(kept -> kept.session.isClosed());
        return open.stream().filter(kept -> kept.leadsTo(upstream)).toList();
    }

    private static Call begin(Kept kept, HeadersFrame head, Stream.Listener listener) throws IOException {
        kept.touched = System.nanoTime();
        var call = new Call(await(kept.session.newStream(head, listener), LIMIT), listener, kept.calls);
        kept.calls.add(call);
        return call;
    }

    private Kept connect(Upstream upstream) throws IOException {
        HTTP2Client connector = client();
        SocketChannel channel = upstream.connector().connect(upstream.port());
        try {
            channel.configureBlocking(false);
            var session = new Promise.Completable<Session>();
            var calls = new Calls();
            connector.accept(upstream.tls() == null ? null : new Tls(upstream.tls()), channel, calls, session);
            var kept = new Kept(upstream, await(session, LIMIT), calls);
            synchronized (this) {
                open.add(kept);
            }
            return kept;
        } catch (IOException | RuntimeException e) {
            channel.close();
            throw e;
        }
    }

    /// TLS of one upstream. The engine itself knows the host and the trusted authorities, and offers HTTP/2 only.
    private static final class Tls extends SslContextFactory.Client {
        private final Upstream.Securing securing;

        Tls(Upstream.Securing securing) {
            this.securing = securing;
        }

        @Override
        public SSLEngine newSSLEngine() {
            return Objects.requireNonNull(securing.forHttp2());
        }

        @Override
        public SSLEngine newSSLEngine(@Nullable String host, int port) {
            return newSSLEngine();
        }

        @Override
        public SSLEngine newSSLEngine(@Nullable InetSocketAddress address) {
            return newSSLEngine();
        }
    }

    /// The open calls of a connection. All of them are notified of its end, even on a stream that Jetty has closed
    /// already: Jetty closes a stream that is just being sent without notifying its listener, which would wait for
    /// ever.
    private static final class Calls implements Session.Listener {
        private final Set<Call> active = ConcurrentHashMap.newKeySet();
        private volatile boolean ended;

        void add(Call call) {
            active.add(call);
            if (ended) {
                end();
            }
        }

        void remove(Call call) {
            active.remove(call);
        }

        private void end() {
            ended = true;
            var cause = new EOFException("the server ended the connection");
            for (var call : active) {
                call.listener.onFailure(call.stream, ErrorCode.CANCEL_STREAM_ERROR.code, "ended", cause, Callback.NOOP);
            }
        }

        @Override
        public void onClose(Session session, GoAwayFrame frame, Callback callback) {
            end();
            callback.succeeded();
        }

        @Override
        public void onFailure(Session session, Throwable failure, Callback callback) {
            end();
            callback.succeeded();
        }

        /// Silence is no reason to end a call.
        @Override
        public boolean onIdleTimeout(Session session) {
            return false;
        }
    }

    void cut(String key) {
        List<Kept> all;
        synchronized (this) {
            all = open.stream().filter(kept -> kept.upstream.key().equals(key)).toList();
            all.forEach(open::remove);
        }
        all.forEach(Kept::cut);
    }

    /// Closes connections that were idle for a while.
    void sweep() {
        List<Kept> old;
        synchronized (this) {
            old = open.stream().filter(Kept::idle).toList();
            old.forEach(open::remove);
        }
        old.forEach(Kept::cut);
    }

    void close() {
        List<Kept> all;
        HTTP2Client used;
        synchronized (this) {
            all = List.copyOf(open);
            open.clear();
            used = client;
            client = null;
        }
        all.forEach(Kept::cut);
        if (used != null) {
            try {
                used.stop();
            } catch (Exception e) {
                log.atWarn().setCause(e).log("the HTTP/2 client did not stop cleanly");
            }
        }
    }

    private synchronized HTTP2Client client() throws IOException {
        if (client != null) {
            return client;
        }
        var threads = new VirtualThreadPool();
        threads.setMaxConcurrentTasks(0);
        threads.setName("grpc");
        var connector = new ClientConnector();
        connector.setExecutor(threads);
        connector.setSelectors(1);
        var made = new HTTP2Client(connector);
        // Engines bring it.
        made.setUseALPN(false);
        made.setInitialStreamRecvWindow(STREAM_WINDOW);
        made.setInitialSessionRecvWindow(SESSION_WINDOW);
        try {
            made.start();
        } catch (Exception e) {
            throw new IOException("the HTTP/2 client does not start", e);
        }
        client = made;
        return made;
    }

    /// The value, or why there is none.
    static <T> T await(CompletableFuture<T> future, Duration limit) throws IOException {
        try {
            return future.get(limit.toNanos(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw (IOException) new java.io.InterruptedIOException("interrupted").initCause(e);
        } catch (ExecutionException e) {
            throw new IOException(String.valueOf(e.getCause()), e);
        } catch (TimeoutException e) {
            throw new IOException("no word within " + limit, e);
        }
    }
}
