package dev.cay.proxy;

import dev.cay.http.BrokenUpstream;
import dev.cay.http.ClientGone;
import dev.cay.http.Exchange;
import dev.cay.metrics.Meters;
import dev.cay.metrics.Tally;
import dev.cay.metrics.Timing;
import java.io.IOException;
import java.net.ConnectException;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/// Passes exchanges on to HTTP/1.1 servers inside sandboxes, both ways at once and without buffering, upgrades
/// included. gRPC goes to servers of HTTP/2, because it needs that.
///
/// Connections are pooled by {@link Upstream#key}, so a resumed sandbox never gets a stale one. The client side is
/// Cay's own, on blocking channels and Jetty's parser: channels are connected in another network namespace, which
/// Jetty's client does not support, and a waiting virtual thread costs one hop where Jetty's selector takes several.
public final class ReverseProxy implements AutoCloseable {
    private static final Duration SWEEP = Duration.ofSeconds(10);

    private final UpstreamPool pool = new UpstreamPool();
    private final Http2Upstreams sessions = new Http2Upstreams();
    private final BodyRoom bodies = new BodyRoom();
    private final Tally requests;
    private final Tally bytes;
    private final Timing times;
    private @Nullable Thread sweeper;

    public ReverseProxy(Meters meters) {
        requests = meters.tally("cay_proxy_requests_total", "Requests to servers in sandboxes, by answer", "status");
        bytes = meters.tally("cay_proxy_bytes_total", "Bytes of bodies passed on; upgraded ones not", "direction");
        times = meters.timing("cay_proxy_seconds", "How long requests to servers in sandboxes took");
    }

    public void start() {
        sweeper = Thread.ofVirtual().name("upstream-sweeper").start(this::sweep);
    }

    /// Opens a connection that the next exchange with this server finds.
    public void prepare(Upstream upstream) throws IOException {
        pool.keep(pool.open(upstream));
    }

    /// Passes the exchange on and returns at its end, also that of an upgraded one.
    ///
    /// A server that accepts the connection but gives no answer becomes an `IOException`, which renders as 502.
    ///
    /// @throws java.net.ConnectException when the port is closed; nothing was answered then
    public void forward(Exchange exchange, Upstream upstream) throws IOException {
        long began = System.nanoTime();
        String outcome = "failed";
        try {
            pass(exchange, upstream);
            outcome = exchange.statusClass();
        } finally {
            requests.count(outcome);
            bytes.add(exchange.bytesRead(), "in");
            bytes.add(exchange.bytesWritten(), "out");
            times.since(began);
        }
    }

    private void pass(Exchange exchange, Upstream upstream) throws IOException {
        UpstreamRequest request;
        try {
            request = new UpstreamRequest(exchange, upstream.host(), bodies);
        } catch (ClientGone e) {
            exchange.abort("the client disconnected");
            return;
        }
        if (request.grpc() && Http2Upstreams.reaches(upstream)) {
            passCall(exchange, request, upstream);
            return;
        }
        UpstreamConnection kept = request.wantsUpgrade() ? null : pool.take(upstream);
        if (kept != null && attempt(exchange, request, kept)) {
            return;
        }
        attempt(exchange, request, open(upstream));
    }

    private UpstreamConnection open(Upstream upstream) throws IOException {
        try {
            return pool.open(upstream);
        } catch (ConnectException e) {
            throw e;
        } catch (SocketException | SocketTimeoutException e) {
            // The server just ended, or root inside drops packets or sends what it likes.
            throw new BrokenUpstream("The server in the sandbox took no connection: " + e.getMessage(), e);
        }
    }

    private void passCall(Exchange exchange, UpstreamRequest request, Upstream upstream) throws IOException {
        try {
            new GrpcForwarding(exchange, request).run(sessions, upstream);
        } catch (ClientGone e) {
            exchange.abort("the client disconnected");
        } catch (ConnectException e) {
            throw e;
        } catch (IOException e) {
            if (exchange.committed()) {
                exchange.abort("the connection to the sandbox broke");
                return;
            }
            throw new BrokenUpstream(
                    "The server in the sandbox gave no answer; gRPC needs one that speaks HTTP/2: " + e.getMessage(),
                    e);
        }
    }

    /// Cuts every connection made for this key, pooled or in use. Clients that wait for an answer see a reset.
    public void cut(String key) {
        pool.cut(key);
        sessions.cut(key);
    }

    @Override
    public void close() {
        if (sweeper != null) {
            sweeper.interrupt();
        }
        pool.close();
        sessions.close();
    }

    /// False if the connection turned out to be stale and another one should be tried.
    private boolean attempt(Exchange exchange, UpstreamRequest request, UpstreamConnection connection)
            throws IOException {
        var forwarding = new Forwarding(exchange, request, connection);
        boolean keep = false;
        try {
            keep = forwarding.run();
        } catch (ClientGone e) {
            exchange.abort("the client disconnected");
        } catch (IOException e) {
            if (forwarding.wasStale()) {
                return false;
            }
            if (connection.wasCut() || exchange.committed()) {
                exchange.abort("the connection to the sandbox broke");
                return true;
            }
            throw new BrokenUpstream("The server in the sandbox gave no answer: " + e.getMessage(), e);
        } finally {
            if (keep) {
                pool.keep(connection);
            } else {
                pool.drop(connection);
            }
        }
        return true;
    }

    private void sweep() {
        try {
            while (true) {
                Thread.sleep(SWEEP);
                pool.sweep();
                sessions.sweep();
            }
        } catch (InterruptedException e) {
            // Closed.
        }
    }
}
