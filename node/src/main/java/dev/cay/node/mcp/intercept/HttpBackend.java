package dev.cay.node.mcp.intercept;

import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Sends a call to an HTTP address. The operator chose it, so any address is allowed, also on this host.
///
/// @param name its name in messages
record HttpBackend(String name, URI url, HttpClient client) implements InterceptorBackend {
    private static final Logger log = LoggerFactory.getLogger(HttpBackend.class);
    private static final int OK = 200;
    private static final int NO_CONTENT = 204;

    @Override
    public byte[] ask(byte[] question, Duration limit) throws InterruptedException {
        var request = HttpRequest.newBuilder(url)
                .header("Content-Type", "application/json")
                .POST(HttpRequest.BodyPublishers.ofByteArray(question))
                .build();
        var coming = client.sendAsync(request, BodyHandlers.limiting(BodyHandlers.ofByteArray(), MOST));
        try {
            // A limit of the request itself would end with the headers.
            var answer = coming.get(limit.toNanos(), TimeUnit.NANOSECONDS);
            if (answer.statusCode() != OK && answer.statusCode() != NO_CONTENT) {
                throw new CayException(ErrorKind.FAILED, "answered with status %d".formatted(answer.statusCode()));
            }
            return answer.body();
        } catch (TimeoutException e) {
            throw new CayException(
                    ErrorKind.DEADLINE_EXCEEDED, "took longer than %d ms".formatted(limit.toMillis()), e);
        } catch (ExecutionException e) {
            log.atWarn().setCause(e.getCause()).addKeyValue("interceptor", name).log("an interceptor failed");
            throw new CayException(
                    ErrorKind.UNAVAILABLE, "is not reached, or answered more than %d bytes".formatted(MOST), e);
        } finally {
            coming.cancel(true);
        }
    }
}
