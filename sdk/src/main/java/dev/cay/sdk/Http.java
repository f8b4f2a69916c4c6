package dev.cay.sdk;

import dev.cay.sdk.SandboxException.Kind;
import java.io.IOException;
import java.io.InputStream;
import java.net.ConnectException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpTimeoutException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import java.time.Duration;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// Sends all requests. Every failure becomes a {@link SandboxException} here.
final class Http implements AutoCloseable {
    static final JsonMapper JSON = JsonMapper.builder().build();

    private static final Duration CONNECT_LIMIT = Duration.ofSeconds(10);
    private static final Duration BODY_LIMIT = Duration.ofMinutes(10);
    private static final int LONGEST_COMPLAINT = 64 << 10;

    private final HttpClient client;
    private final ScheduledThreadPoolExecutor alarms;

    Http(@Nullable Path certificates) {
        var builder = HttpClient.newBuilder().connectTimeout(CONNECT_LIMIT);
        if (certificates != null) {
            builder.sslContext(trusting(certificates));
        }
        this.client = builder.build();
        this.alarms = new ScheduledThreadPoolExecutor(
                1, Thread.ofPlatform().daemon().name("cay-sdk-alarms").factory());
        alarms.setRemoveOnCancelPolicy(true);
    }

    /// Sends a request. The caller reads and closes the answer.
    ///
    /// @throws SandboxException with the server's message, if the status is not 2xx
    HttpResponse<InputStream> open(HttpRequest request) {
        HttpResponse<InputStream> answer;
        try {
            answer = client.send(request, HttpResponse.BodyHandlers.ofInputStream());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new SandboxException(Kind.INTERRUPTED, "interrupted while waiting for " + target(request), e);
        } catch (IOException e) {
            throw failed(request, e);
        }
        if (answer.statusCode() / 100 == 2) {
            return answer;
        }
        throw refused(answer, new String(read(request, answer, LONGEST_COMPLAINT), StandardCharsets.UTF_8));
    }

    byte[] bytes(HttpRequest request) {
        return read(request, open(request));
    }

    byte[] read(HttpRequest request, HttpResponse<InputStream> answer) {
        return read(request, answer, Integer.MAX_VALUE);
    }

    JsonNode json(HttpRequest request) {
        return parse(new String(bytes(request), StandardCharsets.UTF_8));
    }

    private byte[] read(HttpRequest request, HttpResponse<InputStream> answer, int most) {
        try (var body = answer.body();
                var _ = alarm(body, BODY_LIMIT)) {
            return body.readNBytes(most);
        } catch (IOException e) {
            throw failed(request, e);
        }
    }

    /// Reads the error from `message`, which the server and the sandbox send, and its kind from `code`, which only the
    /// sandbox sends.
    private static SandboxException refused(HttpResponse<?> answer, String body) {
        var kind = SandboxException.ofStatus(answer.statusCode());
        String message = body.isBlank() ? "the server answered " + answer.statusCode() : body.strip();
        if (body.startsWith("{")) {
            var json = parse(body);
            message = json.path("message").asString(message);
            if (json.path("code").isString()) {
                kind = SandboxException.ofCode(json.path("code").asString());
            }
        }
        var wait = answer.headers().firstValue("Retry-After").filter(text -> text.matches("\\d{1,4}"));
        return new SandboxException(
                kind, message, wait.map(Long::valueOf).map(Duration::ofSeconds).orElse(null));
    }

    private static SandboxException failed(HttpRequest request, IOException e) {
        if (e instanceof HttpTimeoutException) {
            return new SandboxException(Kind.TIMEOUT, target(request) + " did not answer in time", e);
        }
        if (e instanceof ConnectException) {
            return new SandboxException(Kind.UNAVAILABLE, "cannot reach " + target(request), e);
        }
        return new SandboxException(Kind.FAILED, "%s: %s".formatted(target(request), e.getMessage()), e);
    }

    /// The URL without its query, which may have a signature.
    private static String target(HttpRequest request) {
        var uri = request.uri();
        return "%s://%s%s".formatted(uri.getScheme(), uri.getAuthority(), uri.getPath());
    }

    Alarm alarm(InputStream stream, Duration limit) {
        return new Alarm(alarms, stream, limit);
    }

    static JsonNode parse(String text) {
        try {
            return text.isBlank() ? JSON.nullNode() : JSON.readTree(text);
        } catch (JacksonException e) {
            throw new SandboxException(Kind.FAILED, "the server's answer is no JSON", e);
        }
    }

    private static SSLContext trusting(Path certificates) {
        try (var in = Files.newInputStream(certificates)) {
            var store = KeyStore.getInstance(KeyStore.getDefaultType());
            store.load(null, null);
            int number = 0;
            for (var certificate : CertificateFactory.getInstance("X.509").generateCertificates(in)) {
                store.setCertificateEntry("authority-" + number++, certificate);
            }
            var trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
            trust.init(store);
            var context = SSLContext.getInstance("TLS");
            context.init(null, trust.getTrustManagers(), null);
            return context;
        } catch (IOException | GeneralSecurityException e) {
            throw new SandboxException(
                    Kind.INVALID, "cannot read the certificates in %s: %s".formatted(certificates, e.getMessage()), e);
        }
    }

    /// Aborts requests in progress.
    @Override
    public void close() {
        alarms.shutdownNow();
        client.shutdownNow();
    }
}
