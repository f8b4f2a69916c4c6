package dev.cay.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;
import org.eclipse.jetty.client.HttpClient;
import org.eclipse.jetty.client.HttpClientTransport;
import org.eclipse.jetty.client.InputStreamResponseListener;
import org.eclipse.jetty.client.OutputStreamRequestContent;
import org.eclipse.jetty.client.transport.HttpClientTransportOverHTTP;
import org.eclipse.jetty.http2.client.HTTP2Client;
import org.eclipse.jetty.http2.client.transport.HttpClientTransportOverHTTP2;
import org.eclipse.jetty.io.ClientConnector;
import org.eclipse.jetty.util.component.LifeCycle;
import org.eclipse.jetty.util.ssl.SslContextFactory;

/// A request whose body is still being written while its answer is read. The JDK's client cannot do that.
public final class Duplex implements AutoCloseable {
    final OutputStream out;
    final InputStream in;
    final int status;
    private final HttpClient client;

    public Duplex(TestHttp http, boolean second, String path) throws Exception {
        var connector = new ClientConnector();
        var tls = new SslContextFactory.Client();
        tls.setSslContext(http.trusting());
        connector.setSslContextFactory(tls);
        HttpClientTransport transport = second
                ? new HttpClientTransportOverHTTP2(new HTTP2Client(connector))
                : new HttpClientTransportOverHTTP(connector);
        client = new HttpClient(transport);
        client.start();
        var content = new OutputStreamRequestContent();
        var answer = new InputStreamResponseListener();
        client.newRequest(http.uri(second, path)).method("POST").body(content).send(answer);
        out = content.getOutputStream();
        status = answer.get(30, TimeUnit.SECONDS).getStatus();
        in = answer.getInputStream();
    }

    /// Sends a line only when the answer to the one before has arrived.
    public static void echoesLineByLine(TestHttp http, boolean second, String path) throws Exception {
        try (var duplex = new Duplex(http, second, path)) {
            assertThat(duplex.status).isEqualTo(200);
            for (int i = 0; i < 5; i++) {
                duplex.out.write(("line " + i + "\n").getBytes(StandardCharsets.UTF_8));
                duplex.out.flush();
                assertThat(TestHttp.readLine(duplex.in)).isEqualTo("echo line " + i);
            }
            duplex.out.close();
            assertThat(duplex.in.read()).isEqualTo(-1);
        }
    }

    public byte[] echo(byte[] bytes) throws IOException {
        Thread.ofVirtual().start(() -> {
            try (out) {
                out.write(bytes);
            } catch (IOException e) {
                throw new java.io.UncheckedIOException(e);
            }
        });
        return in.readAllBytes();
    }

    @Override
    public void close() {
        LifeCycle.stop(client);
    }
}
