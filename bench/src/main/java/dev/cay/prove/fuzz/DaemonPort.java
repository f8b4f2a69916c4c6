package dev.cay.prove.fuzz;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.security.cert.X509Certificate;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509TrustManager;

/// Where a daemon can be talked to.
///
/// @param protocol what TLS offers by ALPN, like `h2`; empty for no TLS
record DaemonPort(int port, String protocol) {
    private static final int CONNECT_LIMIT = 10_000;
    private static final SSLContext TRUSTING = trusting();

    static DaemonPort plain(int port) {
        return new DaemonPort(port, "");
    }

    /// @param limit of the handshake, in milliseconds
    Socket open(int limit) throws IOException {
        var socket = new Socket();
        try {
            socket.setTcpNoDelay(true);
            socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), CONNECT_LIMIT);
            socket.setSoTimeout(limit);
            return protocol.isEmpty() ? socket : secured(socket);
        } catch (IOException e) {
            socket.close();
            throw e;
        }
    }

    private SSLSocket secured(Socket socket) throws IOException {
        var secure = (SSLSocket) TRUSTING.getSocketFactory().createSocket(socket, "localhost", port, true);
        var parameters = secure.getSSLParameters();
        parameters.setApplicationProtocols(new String[] {protocol});
        secure.setSSLParameters(parameters);
        secure.startHandshake();
        return secure;
    }

    private static SSLContext trusting() {
        try {
            var context = SSLContext.getInstance("TLS");
            context.init(null, new TrustManager[] {new Credulous()}, new SecureRandom());
            return context;
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("no TLS", e);
        }
    }

    /// Takes any certificate: what is sent here is no secret.
    private static final class Credulous implements X509TrustManager {
        @Override
        public void checkClientTrusted(X509Certificate[] chain, String kind) {}

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String kind) {}

        @Override
        public X509Certificate[] getAcceptedIssuers() {
            return new X509Certificate[0];
        }
    }
}
