package dev.cay.server.people.openid;

import com.nimbusds.oauth2.sdk.ParseException;
import com.nimbusds.oauth2.sdk.http.HTTPRequestSender;
import com.nimbusds.oauth2.sdk.http.HTTPResponse;
import com.nimbusds.oauth2.sdk.http.ReadOnlyHTTPRequest;
import com.nimbusds.oauth2.sdk.http.ReadOnlyHTTPResponse;
import dev.cay.web.Deadline;
import dev.cay.web.Dialer;
import dev.cay.web.UrlOrigin;
import dev.cay.web.WebAnswer;
import java.io.IOException;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// Requests to the issuer: each with a limit of time and size, no redirect followed. Thread-safe.
final class IssuerWeb implements HTTPRequestSender {
    private static final Duration LIMIT = Duration.ofSeconds(15);
    private static final int MOST_BYTES = 1 << 20;

    private final Dialer dialer;

    IssuerWeb(Dialer dialer) {
        this.dialer = dialer;
    }

    @Override
    public ReadOnlyHTTPResponse send(ReadOnlyHTTPRequest request) throws IOException {
        var url = request.getURI();
        var headers = new LinkedHashMap<String, String>();
        headers.put("User-Agent", "cay");
        headers.put("Accept", "application/json");
        headers.put("Accept-Encoding", "identity");
        headers.put("Connection", "close");
        request.getHeaderMap().forEach((name, values) -> headers.put(name, String.join(", ", values)));
        String body = request.getBody();
        return send(
                request.getMethod().name(), url, headers, body == null ? null : body.getBytes(StandardCharsets.UTF_8));
    }

    /// The answer to a plain question.
    HTTPResponse get(URI url) throws IOException {
        return send(
                "GET",
                url,
                Map.of(
                        "User-Agent",
                        "cay",
                        "Accept",
                        "application/json",
                        "Accept-Encoding",
                        "identity",
                        "Connection",
                        "close"),
                null);
    }

    private HTTPResponse send(String method, URI url, Map<String, String> headers, byte @Nullable [] body)
            throws IOException {
        try (var line = dialer.open(UrlOrigin.of(url));
                var deadline = Deadline.start(LIMIT, line)) {
            try {
                line.send(method, UrlOrigin.target(url), headers, body);
                return read(WebAnswer.read(line));
            } catch (IOException e) {
                throw deadline.passed() ? new SocketTimeoutException("no answer in time") : e;
            }
        }
    }

    private static HTTPResponse read(WebAnswer answer) throws IOException {
        byte[] content = answer.content().readNBytes(MOST_BYTES + 1);
        if (content.length > MOST_BYTES) {
            throw new IOException("its answer has more than 1 MiB");
        }
        var response = new HTTPResponse(answer.status());
        try {
            if (!answer.header("Content-Type").isEmpty()) {
                response.setContentType(answer.header("Content-Type"));
            }
        } catch (ParseException e) {
            throw new IOException("its answer has a content type that is none", e);
        }
        response.setBody(new String(content, StandardCharsets.UTF_8));
        return response;
    }
}
