package dev.cay.http;

import java.io.EOFException;
import java.util.concurrent.locks.ReentrantLock;
import org.eclipse.jetty.http.HttpVersion;
import org.eclipse.jetty.io.Connection;
import org.eclipse.jetty.io.Content;
import org.eclipse.jetty.io.EndPoint;
import org.eclipse.jetty.server.Connector;
import org.eclipse.jetty.server.HttpConfiguration;
import org.eclipse.jetty.server.HttpConnectionFactory;
import org.eclipse.jetty.server.internal.HttpConnection;
import org.jspecify.annotations.Nullable;

/// Jetty's HTTP/1.1 connection, read by one thread at a time.
///
/// Jetty lets two threads use its read buffer. It answers a malformed head on a second thread, after which a third
/// continues to read while the first may still be about to release the buffer. And it discards a body on the thread
/// that closes the connection, while the handler's thread may just end the request. Then both release the buffer, or
/// one reads into it after the other released it. By then it may be the buffer of another connection, so bytes of one
/// client could appear in another client's request.
final class Http1Connection extends HttpConnection {
    /// Held also while a request is handled: until its answer is complete no other thread needs to read.
    private final ReentrantLock turn = new ReentrantLock();

    private Http1Connection(HttpConfiguration configuration, Connector connector, EndPoint endPoint) {
        super(configuration, connector, endPoint);
    }

    @Override
    public void onFillable() {
        turn.lock();
        try {
            super.onFillable();
        } finally {
            turn.unlock();
        }
    }

    @Override
    protected HttpStreamOverHTTP1 newHttpStream(String method, @Nullable String uri, HttpVersion version) {
        return new Body(method, uri, version);
    }

    /// A request's body. No thread waits for this lock, because Jetty calls with locks of its own held. Two threads
    /// come at once only when the connection is lost, and the later one gets an error.
    private final class Body extends HttpStreamOverHTTP1 {
        private final ReentrantLock reading = new ReentrantLock();
        private boolean over;

        Body(String method, @Nullable String uri, HttpVersion version) {
            super(method, uri, version);
        }

        @Override
        @SuppressWarnings(
                "NullAway") // "null: nothing there yet" is this method's contract, but Jetty has no annotations
        public Content.@Nullable Chunk read() {
            if (!begin()) {
                return Content.Chunk.from(lost(), true);
            }
            try {
                return super.read();
            } finally {
                reading.unlock();
            }
        }

        @Override
        @SuppressWarnings("NullAway") // Null when all was there.
        public @Nullable Throwable consumeAvailable() {
            if (!begin()) {
                return lost();
            }
            try {
                return super.consumeAvailable();
            } finally {
                reading.unlock();
            }
        }

        @Override
        public void succeeded() {
            end();
            super.succeeded();
        }

        @Override
        public void failed(Throwable cause) {
            end();
            super.failed(cause);
        }

        private boolean begin() {
            if (!reading.tryLock()) {
                return false;
            }
            if (over) {
                reading.unlock();
                return false;
            }
            return true;
        }

        /// Ends this body: from here on the buffer belongs to the next request.
        private void end() {
            reading.lock();
            try {
                over = true;
            } finally {
                reading.unlock();
            }
        }

        private static Throwable lost() {
            return new Lost();
        }
    }

    /// Jetty asks for the rest of a body at the end of each request, so this is made often.
    private static final class Lost extends EOFException {
        Lost() {
            super("the connection is lost");
        }

        @Override
        public Throwable fillInStackTrace() {
            return this;
        }
    }

    static final class Factory extends HttpConnectionFactory {
        Factory(HttpConfiguration configuration) {
            super(configuration);
        }

        @Override
        public Connection newConnection(Connector connector, EndPoint endPoint) {
            var connection = new Http1Connection(getHttpConfiguration(), connector, endPoint);
            connection.setTransferEncodingChunkMaxLength(getTransferEncodingChunkMaxLength());
            return configure(connection, connector, endPoint);
        }
    }
}
