package dev.cay.node.ingress;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.cay.http.HttpListeners;
import dev.cay.node.guest.TestSandbox;
import dev.cay.node.process.ProcessSettings;
import dev.cay.tls.LocalAuthority;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Base64;
import java.util.Map;
import java.util.regex.Pattern;

/// The system port of a sandbox with a real guest, over HTTP/1.1 and over TLS with HTTP/2, for tests that speak
/// to it in bytes. Its processes see the host's files.
final class ProcessLab implements AutoCloseable {
    static final String TOKEN = GuestEnvd.TOKEN;
    static final Duration LIMIT = Duration.ofSeconds(30);
    private static final Pattern DATA = Pattern.compile("\"(stdout|stderr|pty)\":\"([^\"]*)\"");

    final TestSandbox sandbox;
    final URI plain;
    private final GuestEnvd envd;
    private final HttpListeners listeners = new HttpListeners();
    private final URI secure;
    private final HttpClient http1 =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private final HttpClient http2;

    ProcessLab() throws Exception {
        this(ProcessSettings.DEFAULT);
    }

    ProcessLab(ProcessSettings settings) throws Exception {
        envd = new GuestEnvd(settings, Map.of(), Map.of("FROM_CREATE", "1"));
        sandbox = envd.sandbox;
        var authority = LocalAuthority.open(sandbox.directory().resolve("tls"), "cay.localhost");
        var loopback = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
        int port = listeners.listen(loopback, envd).getPort();
        int secured = listeners.listenTls(loopback, authority.tls(), envd).getPort();
        plain = URI.create("http://127.0.0.1:" + port);
        secure = URI.create("https://localhost:" + secured);
        http2 = HttpClient.newBuilder()
                .version(HttpClient.Version.HTTP_2)
                .sslContext(authority.trusting())
                .build();
    }

    /// What a daemon that comes back does; open streams are cut.
    void restart() throws IOException {
        envd.restart();
    }

    HttpRequest.Builder request(boolean second, String path) {
        return HttpRequest.newBuilder((second ? secure : plain).resolve(path))
                .header("X-Access-Token", TOKEN)
                .timeout(LIMIT);
    }

    HttpResponse<String> send(boolean second, HttpRequest.Builder request) throws Exception {
        return (second ? http2 : http1).send(request.build(), HttpResponse.BodyHandlers.ofString());
    }

    /// A unary call in JSON.
    HttpResponse<String> call(String method, String json, String... headers) throws Exception {
        var request = request(false, "/process.Process/" + method).header("Content-Type", "application/json");
        for (int i = 0; i < headers.length; i += 2) {
            request.header(headers[i], headers[i + 1]);
        }
        return send(false, request.POST(HttpRequest.BodyPublishers.ofString(json)));
    }

    /// A streaming call in JSON.
    Events open(String method, String json, String... headers) throws Exception {
        return open(false, method, "application/connect+json", frame(json.getBytes(UTF_8)), headers);
    }

    Events open(boolean second, String method, String type, byte[] body, String... headers) throws Exception {
        var request = request(second, "/process.Process/" + method).header("Content-Type", type);
        for (int i = 0; i < headers.length; i += 2) {
            request.header(headers[i], headers[i + 1]);
        }
        var answer = (second ? http2 : http1)
                .send(
                        request.POST(HttpRequest.BodyPublishers.ofByteArray(body))
                                .build(),
                        HttpResponse.BodyHandlers.ofInputStream());
        return new Events(answer);
    }

    /// A script in a shell, with more fields of the request like `,"stdin":true`.
    Events start(String script, String more, String... headers) throws Exception {
        return open("Start", shell(script, more), headers);
    }

    static String shell(String script, String more) {
        String escaped = script.replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", "\\n");
        return "{\"process\":{\"cmd\":\"/bin/bash\",\"args\":[\"-c\",\"%s\"]}%s}".formatted(escaped, more);
    }

    static byte[] frame(byte[] message) {
        return ByteBuffer.allocate(5 + message.length)
                .put((byte) 0)
                .putInt(message.length)
                .put(message)
                .array();
    }

    static String base64(String text) {
        return Base64.getEncoder().encodeToString(text.getBytes(UTF_8));
    }

    /// An answer that comes in frames.
    static final class Events implements AutoCloseable {
        final HttpResponse<InputStream> answer;
        private final DataInputStream in;

        Events(HttpResponse<InputStream> answer) {
            this.answer = answer;
            this.in = new DataInputStream(answer.body());
        }

        byte[] bytes() throws IOException {
            in.readByte();
            return in.readNBytes(in.readInt());
        }

        String next() throws IOException {
            return new String(bytes(), UTF_8);
        }

        /// The pid of the first event.
        int pid() throws IOException {
            String first = next();
            if (!first.contains("\"start\"")) {
                throw new IOException("not started: " + first);
            }
            return Integer.parseInt(first.replaceAll("\\D", ""));
        }

        /// The last frame, whatever comes before.
        String last() throws IOException {
            for (int flags = in.read(); ; flags = in.read()) {
                String frame = new String(in.readNBytes(in.readInt()), UTF_8);
                if ((flags & 2) != 0) {
                    return frame;
                }
            }
        }

        /// Output up to the given text, without the events around it.
        String until(String text) throws IOException {
            var heard = new StringBuilder();
            while (heard.indexOf(text) < 0) {
                var data = DATA.matcher(next());
                if (data.find()) {
                    heard.append(new String(Base64.getDecoder().decode(data.group(2)), UTF_8));
                }
            }
            return heard.toString();
        }

        /// How many bytes of output are left in it.
        long count() throws IOException {
            long count = 0;
            for (int flags = in.read(); (flags & 2) == 0; flags = in.read()) {
                var data = DATA.matcher(new String(in.readNBytes(in.readInt()), UTF_8));
                count += data.find() ? Base64.getDecoder().decode(data.group(2)).length : 0;
            }
            return count;
        }

        /// All that is left of it.
        Rest rest() throws IOException {
            var output = new java.io.ByteArrayOutputStream();
            String end = "";
            for (int flags = in.read(); ; flags = in.read()) {
                String frame = new String(in.readNBytes(in.readInt()), UTF_8);
                if ((flags & 2) != 0) {
                    return new Rest(output.toByteArray(), end, frame);
                }
                var data = DATA.matcher(frame);
                if (data.find()) {
                    output.writeBytes(Base64.getDecoder().decode(data.group(2)));
                } else if (!frame.contains("keepalive")) {
                    end = frame;
                }
            }
        }

        @Override
        public void close() throws IOException {
            answer.body().close();
        }
    }

    /// @param end  the end event, or what else came that was no output
    /// @param last the frame that ends the stream
    record Rest(byte[] output, String end, String last) {
        String text() {
            return new String(output, UTF_8);
        }
    }

    @Override
    public void close() throws IOException {
        http1.shutdownNow();
        http2.shutdownNow();
        listeners.close();
        envd.close();
    }
}
