package dev.cay.node.egress;

import dev.cay.proxy.Upstream;
import dev.cay.web.Deadline;
import java.io.IOException;
import java.net.ConnectException;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.function.Supplier;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import org.jspecify.annotations.Nullable;

/// TLS to servers outside. A server shows a certificate for its host that this host's authorities signed, or
/// the connection ends. Thread-safe.
final class UpstreamTls {
    private static final Duration HANDSHAKE = Duration.ofSeconds(30);

    private final Supplier<SSLContext> trust;
    private @Nullable SSLContext context;

    /// @param trust asked once, at first use
    UpstreamTls(Supplier<SSLContext> trust) {
        this.trust = trust;
    }

    Upstream.Securing to(String host, int port) {
        return new Upstream.Securing() {
            @Override
            public SSLSocket secure(Socket plain) throws IOException {
                return UpstreamTls.this.secure(plain, host, port);
            }

            @Override
            public SSLEngine forHttp2() {
                return engine(host, port);
            }
        };
    }

    private SSLEngine engine(String host, int port) {
        var engine = context().createSSLEngine(host, port);
        engine.setUseClientMode(true);
        engine.setSSLParameters(parameters(engine.getSSLParameters(), "h2"));
        return engine;
    }

    private static SSLParameters parameters(SSLParameters parameters, String protocol) {
        parameters.setEndpointIdentificationAlgorithm("HTTPS");
        parameters.setApplicationProtocols(new String[] {protocol});
        return parameters;
    }

    private SSLSocket secure(Socket plain, String host, int port) throws IOException {
        var socket = (SSLSocket) context().getSocketFactory().createSocket(plain, host, port, true);
        socket.setSSLParameters(parameters(socket.getSSLParameters(), "http/1.1"));
        try (var deadline = Deadline.start(HANDSHAKE, plain)) {
            try {
                socket.startHandshake();
                return socket;
            } catch (IOException e) {
                throw deadline.passed() ? new SocketTimeoutException("no TLS in time") : e;
            }
        }
    }

    private synchronized SSLContext context() {
        if (context == null) {
            context = trust.get();
        }
        return context;
    }

    /// The reason of a failure for users, without addresses or credentials.
    static String why(IOException failure) {
        Throwable cause = failure;
        while (cause.getCause() instanceof IOException deeper) {
            cause = deeper;
        }
        return switch (cause) {
            case SSLException e -> "its certificate or its TLS is not accepted: " + e.getMessage();
            case ConnectException _ -> "the connection was refused";
            case SocketTimeoutException _ -> "it took too long";
            default -> String.valueOf(cause.getMessage());
        };
    }
}
