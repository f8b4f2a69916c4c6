package dev.cay.node.image.oci;

import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// Requests to registries. This class follows redirects: credentials go only to their own host, TLS is never left, and
/// a registry cannot lead the node to addresses that are not public.
///
/// A name may resolve to another address by the time it is connected to; then TLS fails, because nobody else has its
/// certificate.
final class RegistryHttp implements AutoCloseable {
    private static final int MOST_REDIRECTS = 5;

    private final Supplier<HttpClient> clients;
    private @Nullable HttpClient client;
    private final RegistrySettings settings;
    private final ScheduledExecutorService watcher = Executors.newSingleThreadScheduledExecutor(
            Thread.ofPlatform().daemon().name("cay-registry-watch").factory());

    /// @param clients makes the client when it is first needed; it must not follow redirects by itself
    RegistryHttp(Supplier<HttpClient> clients, RegistrySettings settings) {
        this.clients = clients;
        this.settings = settings;
    }

    private synchronized HttpClient client() {
        if (client == null) {
            client = clients.get();
            if (client.followRedirects() != HttpClient.Redirect.NEVER) {
                throw new IllegalArgumentException("redirects carry credentials along");
            }
        }
        return client;
    }

    HttpAnswer get(URI uri, Map<String, String> headers) throws IOException {
        URI at = uri;
        for (int redirects = 0; ; redirects++) {
            var request = HttpRequest.newBuilder(at).timeout(settings.answer()).GET();
            boolean own = sameOrigin(uri, at);
            headers.forEach((name, value) -> {
                if (own || !name.equalsIgnoreCase("Authorization")) {
                    request.header(name, value);
                }
            });
            var answer = send(request.build());
            String location = answer.header("Location");
            if (answer.status() < 301 || answer.status() > 308 || answer.status() == 304 || location.isEmpty()) {
                return answer;
            }
            answer.close();
            if (redirects == MOST_REDIRECTS) {
                throw BadImage.because("%s redirects more than %d times".formatted(at.getHost(), MOST_REDIRECTS));
            }
            at = requireAllowed(resolve(at, location), uri);
        }
    }

    HttpAnswer post(URI uri, Map<String, String> headers, String body) throws IOException {
        var request =
                HttpRequest.newBuilder(uri).timeout(settings.answer()).POST(HttpRequest.BodyPublishers.ofString(body));
        headers.forEach(request::header);
        return send(request.build());
    }

    /// A request that follows no redirect.
    ///
    /// @param limit for all of it
    HttpAnswer send(String method, URI uri, Map<String, String> headers, BodyPublisher body, Duration limit)
            throws IOException {
        var request = HttpRequest.newBuilder(uri).timeout(limit).method(method, body);
        headers.forEach(request::header);
        return send(request.build());
    }

    private HttpAnswer send(HttpRequest request) throws IOException {
        try {
            var answer = client().send(request, BodyHandlers.ofInputStream());
            var body = new HttpAnswer.Watched(answer.body(), settings.idle(), watcher);
            return new HttpAnswer(answer.statusCode(), answer.headers(), request.uri(), body);
        } catch (ConnectException e) {
            // The client's own exception has no message.
            throw new IOException(
                    "there is no connection to %s".formatted(request.uri().getAuthority()), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted", e);
        }
    }

    private static URI resolve(URI at, String location) {
        try {
            return at.resolve(location);
        } catch (IllegalArgumentException e) {
            throw BadImage.because("%s redirects to something that is no address".formatted(at.getHost()), e);
        }
    }

    /// Refuses a registry at an address that is not public, unless the operator names it, because users choose names of
    /// images.
    void requireElsewhere(String registry, URI base) {
        try {
            if (!settings.isNamed(registry) && isClosed(String.valueOf(base.getHost()))) {
                throw new CayException(
                        ErrorKind.INVALID_ARGUMENT,
                        "the registry %s is not at a public address; the operator can allow it in images.registries"
                                .formatted(registry));
            }
        } catch (IOException _) {
            // A name that only a proxy or a mirror knows.
        }
    }

    /// Checks an address that a registry gave, for a redirect or for tokens.
    ///
    /// @param origin the address of the original request
    URI requireAllowed(URI named, URI origin) throws IOException {
        String scheme = named.getScheme() == null ? "" : named.getScheme().toLowerCase(Locale.ROOT);
        String host = named.getHost();
        boolean plain = scheme.equals("http") && "http".equals(origin.getScheme());
        if (host == null || named.getUserInfo() != null || !(scheme.equals("https") || plain)) {
            throw BadImage.because("%s leads to an address that cannot be used: %s"
                    .formatted(origin.getHost(), BadImage.shown(scheme + "://" + host)));
        }
        if (!host.equals(origin.getHost())
                && !settings.isNamed(named.getAuthority())
                && isClosed(host)
                && !isClosed(String.valueOf(origin.getHost()))) {
            throw BadImage.because(
                    "%s leads to %s, which is not a public address; the operator can allow it in images.registries"
                            .formatted(origin.getHost(), BadImage.shown(host)));
        }
        return named;
    }

    private boolean isClosed(String host) throws IOException {
        for (var address : InetAddress.getAllByName(host)) {
            if (!settings.reach().allows(host, address)) {
                return true;
            }
        }
        return false;
    }

    private static boolean sameOrigin(URI one, URI other) {
        return String.valueOf(one.getScheme()).equalsIgnoreCase(other.getScheme())
                && String.valueOf(one.getAuthority()).equalsIgnoreCase(other.getAuthority());
    }

    @Override
    public void close() {
        watcher.shutdownNow();
    }
}
