package dev.cay.node.mcp.remote;

import dev.cay.node.mcp.catalog.LaunchPlan;
import dev.cay.web.Deadline;
import dev.cay.web.Lines;
import dev.cay.web.UrlOrigin;
import dev.cay.web.WebAnswer;
import dev.cay.web.WebLine;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.time.Duration;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.Semaphore;
import org.jspecify.annotations.Nullable;

/// Sends the requests of one connection to a server, with the headers the user gave for it. Thread-safe.
///
/// Those headers are credentials, as are tokens: they go to the server the user named, and never where it redirects to.
final class WebClient implements AutoCloseable {
    private static final int MOST_REDIRECTS = 5;
    private static final int MOST_IDLE = 4;
    private static final Duration IDLE = Duration.ofSeconds(20);

    /// Headers that users cannot set.
    private static final Set<String> OURS = Set.of(
            "host",
            "connection",
            "content-length",
            "content-type",
            "transfer-encoding",
            "expect",
            "upgrade",
            "te",
            "trailer",
            "accept",
            "accept-encoding",
            "last-event-id",
            "mcp-session-id",
            "mcp-protocol-version");

    /// @param headers those of the protocol
    record Request(String method, URI url, Map<String, String> headers, byte @Nullable [] body) {}

    private final LaunchPlan.Remote remote;
    private final UrlOrigin home;
    private final Lines lines;
    private final Semaphore large;
    private final RemoteCredentials credentials;
    private final ConcurrentLinkedDeque<WebLine> idle = new ConcurrentLinkedDeque<>();
    private final Set<WebLine> open = ConcurrentHashMap.newKeySet();
    private volatile boolean closed;

    /// @param large lets one large message at a time into memory
    WebClient(LaunchPlan.Remote remote, Lines lines, RemoteCredentials credentials, Semaphore large) {
        this.remote = remote;
        this.home = UrlOrigin.of(remote.url());
        this.lines = lines;
        this.credentials = credentials;
        this.large = large;
    }

    /// An answer with the address it came from, which differs from the requested one after a redirect.
    final class Reply implements AutoCloseable {
        private final URI url;
        private final WebAnswer answer;

        private Reply(URI url, WebAnswer answer) {
            this.url = url;
            this.answer = answer;
        }

        URI url() {
            return url;
        }

        WebAnswer answer() {
            return answer;
        }

        /// Counts the memory of messages in the answer.
        MessageMemory room() {
            return new MessageMemory(large, answer.line());
        }

        /// The whole content of a small answer, or of a message.
        byte[] bytes(MessageMemory room) throws IOException {
            var bytes = new ByteArrayOutputStream();
            var piece = new byte[16 * 1024];
            for (int count = answer.content().read(piece);
                    count >= 0;
                    count = answer.content().read(piece)) {
                room.take(count);
                bytes.write(piece, 0, count);
            }
            room.complete();
            return bytes.toByteArray();
        }

        @Override
        public void close() {
            keepOrClose(answer);
        }
    }

    /// Makes sure that the server can be reached at all.
    void reach() throws IOException {
        var line = lines.open(home);
        open.add(line);
        rest(line);
    }

    /// @param limit until the head of the answer has arrived
    Reply send(Request request, Duration limit) throws IOException {
        String shown = credentials.now();
        var reply = follow(request, shown, limit);
        if (!isSentAgain(reply, shown, false)) {
            return reply;
        }
        reply.close();
        shown = credentials.now();
        reply = follow(request, shown, limit);
        boolean _ = isSentAgain(reply, shown, true);
        return reply;
    }

    private boolean isSentAgain(Reply reply, @Nullable String shown, boolean last) {
        int status = reply.answer().status();
        boolean refused = status == 401 || status == 403;
        if (!refused || !UrlOrigin.of(reply.url()).equals(home)) {
            return false;
        }
        boolean known = false;
        try {
            boolean again = credentials.refused(
                    new RemoteCredentials.Refused(status, shown, reply.answer().header("WWW-Authenticate"), last));
            known = true;
            return again;
        } finally {
            if (!known) {
                reply.close();
            }
        }
    }

    private Reply follow(Request request, @Nullable String shown, Duration limit) throws IOException {
        URI url = request.url();
        for (int hops = 0; hops <= MOST_REDIRECTS; hops++) {
            var reply = once(url, request, shown, limit);
            if (!reply.answer().redirects()) {
                return reply;
            }
            reply.close();
            url = next(url, request, reply.answer());
        }
        throw new IOException("the server redirects more than %d times".formatted(MOST_REDIRECTS));
    }

    private Reply once(URI url, Request request, @Nullable String shown, Duration limit) throws IOException {
        var origin = UrlOrigin.of(url);
        var line = line(origin);
        boolean done = false;
        try (var deadline = Deadline.start(limit, line)) {
            try {
                line.send(request.method(), UrlOrigin.target(url), headers(origin, request, shown), request.body());
                var answer = WebAnswer.read(line);
                done = true;
                return new Reply(url, answer);
            } catch (IOException e) {
                throw deadline.passed() ? new SocketTimeoutException("no answer in time") : e;
            }
        } finally {
            if (!done) {
                drop(line);
            }
        }
    }

    private static URI next(URI url, Request request, WebAnswer answer) throws IOException {
        var next = answer.redirect(url);
        if (answer.status() == 303 && !request.method().equals("GET")) {
            throw new IOException("the server redirects to something that takes no messages");
        }
        return next;
    }

    private Map<String, String> headers(UrlOrigin origin, Request request, @Nullable String shown) {
        var headers = new LinkedHashMap<>(request.headers());
        headers.put("User-Agent", "cay");
        if (origin.equals(home)) {
            if (shown != null) {
                headers.put("Authorization", shown);
            }
            remote.headers().forEach((name, value) -> {
                if (!OURS.contains(name.toLowerCase(Locale.ROOT))) {
                    headers.put(name, value);
                }
            });
        }
        return headers;
    }

    private WebLine line(UrlOrigin origin) throws IOException {
        for (Iterator<WebLine> lines = idle.iterator(); lines.hasNext(); ) {
            var line = lines.next();
            if (line.origin().equals(origin) && idle.remove(line)) {
                if (line.stillGood(IDLE)) {
                    return line;
                }
                drop(line);
            }
        }
        var line = lines.open(origin);
        open.add(line);
        if (closed) {
            drop(line);
        }
        return line;
    }

    private void keepOrClose(WebAnswer answer) {
        if (answer.reusable()) {
            rest(answer.line());
        } else {
            drop(answer.line());
        }
    }

    private void rest(WebLine line) {
        if (closed || idle.size() >= MOST_IDLE) {
            drop(line);
            return;
        }
        line.rest();
        idle.add(line);
    }

    private void drop(WebLine line) {
        open.remove(line);
        line.close();
    }

    /// Ends all that is under way.
    @Override
    public void close() {
        closed = true;
        open.forEach(this::drop);
        idle.clear();
    }
}
