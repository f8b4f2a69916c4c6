package dev.cay.proxy;

import java.io.IOException;
import java.net.Socket;
import java.security.GeneralSecurityException;
import java.security.cert.X509Certificate;
import java.time.Duration;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509ExtendedTrustManager;

/// TLS to servers in sandboxes. Certificates are not checked: a server inside makes its own, and only the sandbox can
/// be at the other end.
public final class AnyCertificate implements Upstream.Securing {
    private static final Duration HANDSHAKE = Duration.ofSeconds(10);

    private final SSLContext context = context();

    @Override
    public SSLSocket secure(Socket plain) throws IOException {
        var socket = (SSLSocket) context.getSocketFactory().createSocket(plain, "localhost", plain.getPort(), true);
        var parameters = socket.getSSLParameters();
        parameters.setApplicationProtocols(new String[] {"http/1.1"});
        socket.setSSLParameters(parameters);
        // Root inside may accept the connection and stay silent.
        socket.setSoTimeout((int) HANDSHAKE.toMillis());
        socket.startHandshake();
        socket.setSoTimeout(0);
        return socket;
    }

    private static SSLContext context() {
        try {
            var context = SSLContext.getInstance("TLS");
            context.init(null, new TrustManager[] {new TrustAll()}, null);
            return context;
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    private static final class TrustAll extends X509ExtendedTrustManager {
        @Override
        public void checkClientTrusted(X509Certificate[] chain, String type, Socket socket) {}

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String type, Socket socket) {}

        @Override
        public void checkClientTrusted(X509Certificate[] chain, String type, SSLEngine engine) {}

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String type, SSLEngine engine) {}

        @Override
        public void checkClientTrusted(X509Certificate[] chain, String type) {}

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String type) {}

        @Override
        public X509Certificate[] getAcceptedIssuers() {
            return new X509Certificate[0];
        }
    }
}
