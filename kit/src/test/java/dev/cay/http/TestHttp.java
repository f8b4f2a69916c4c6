package dev.cay.http;

import dev.cay.tls.LocalAuthority;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;

/// A server on free loopback ports with clients of both HTTP versions that trust it.
public final class TestHttp implements AutoCloseable {
    static final Duration LIMIT = Duration.ofSeconds(30);

    final HttpListeners listeners = new HttpListeners();
    public final InetSocketAddress plain;
    final InetSocketAddress secure;
    private final LocalAuthority authority;
    private @Nullable HttpClient http1;
    private @Nullable HttpClient http2;

    public TestHttp(Path directory, Handler handler) throws IOException {
        authority = LocalAuthority.open(directory, "cay.localhost");
        plain = listeners.listen(loopback(), handler);
        secure = listeners.listenTls(loopback(), authority.tls(), handler);
    }

    public static InetSocketAddress loopback() {
        return new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    }

    SSLContext tls() {
        return authority.tls();
    }

    SSLContext trusting() {
        return authority.trusting();
    }

    public HttpClient http1() {
        if (http1 == null) {
            http1 = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
        }
        return http1;
    }

    public HttpClient http2() {
        if (http2 == null) {
            http2 = HttpClient.newBuilder()
                    .version(HttpClient.Version.HTTP_2)
                    .sslContext(authority.trusting())
                    .build();
        }
        return http2;
    }

    public HttpClient client(boolean second) {
        return second ? http2() : http1();
    }

    public URI uri(boolean second, String path) {
        return URI.create(
                second ? "https://localhost:" + secure.getPort() + path : "http://localhost:" + plain.getPort() + path);
    }

    public HttpRequest.Builder request(boolean second, String path) {
        return HttpRequest.newBuilder(uri(second, path)).timeout(LIMIT);
    }

    /// Answers every line of the body at once.
    public static void echoLines(Exchange exchange) throws IOException {
        var in = new BufferedReader(new InputStreamReader(exchange.body(), StandardCharsets.UTF_8));
        OutputStream out = exchange.stream(200);
        out.flush();
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            out.write(("echo " + line + "\n").getBytes(StandardCharsets.UTF_8));
            out.flush();
        }
    }

    public static String readLine(InputStream in) throws IOException {
        var line = new StringBuilder();
        for (int one = in.read(); one != '\n'; one = in.read()) {
            if (one < 0) {
                throw new java.io.EOFException("after: " + line);
            }
            line.append((char) one);
        }
        return line.toString();
    }

    @Override
    public void close() {
        if (http1 != null) {
            http1.shutdownNow();
        }
        if (http2 != null) {
            http2.shutdownNow();
        }
        listeners.close();
    }
}
