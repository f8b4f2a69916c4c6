package dev.cay.proxy;

import dev.cay.http.ClientGone;
import dev.cay.http.Exchange;
import dev.cay.http.RequestBody;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.StringJoiner;
import java.util.regex.Pattern;
import org.eclipse.jetty.http.HttpField;
import org.eclipse.jetty.http.HttpFields;
import org.eclipse.jetty.http.HttpGenerator;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.http.HttpURI;
import org.eclipse.jetty.http.HttpVersion;
import org.eclipse.jetty.http.MetaData;
import org.eclipse.jetty.server.Request;
import org.jspecify.annotations.Nullable;

/// The client's request as HTTP/1.1 for the server inside: same target, same headers but hop-by-hop ones.
final class UpstreamRequest {
    private static final Set<String> HOP = Set.of(
            "connection",
            "keep-alive",
            "proxy-connection",
            "proxy-authenticate",
            "proxy-authorization",
            "te",
            "trailer",
            "transfer-encoding",
            "upgrade",
            "http2-settings");
    private static final Set<String> SAFE = Set.of("GET", "HEAD", "OPTIONS", "TRACE");
    private static final Pattern GRPC = Pattern.compile("application/grpc(\\+|;|\\s|$)", Pattern.CASE_INSENSITIVE);
    private static final ByteBuffer CHUNK_END = ByteBuffer.wrap(new byte[] {'\r', '\n'});

    /// How the end of the body is marked.
    enum Framing {
        NONE,
        EMPTY,
        LENGTH,
        CHUNKED
    }

    private final Exchange exchange;
    private final @Nullable String host;
    private final @Nullable ReadBody read;
    private final Framing framing;
    private final Map<String, String> set;

    /// @param bodies limits the memory of bodies that are changed
    UpstreamRequest(Exchange exchange, @Nullable String host, BodyRoom bodies) throws IOException {
        this.exchange = exchange;
        this.host = host;
        var came = framing(exchange);
        this.read = came == Framing.LENGTH || came == Framing.CHUNKED ? ReadBody.of(exchange, grpc(), bodies) : null;
        this.framing = read == null || !read.whole() ? came : read.bytes().length == 0 ? Framing.EMPTY : Framing.LENGTH;
        // Read after the body was changed, which may set more headers.
        this.set = LastHop.headers(exchange);
    }

    boolean hasBody() {
        return framing == Framing.LENGTH || framing == Framing.CHUNKED;
    }

    /// Whether the client waits for a word before it sends the body.
    boolean expectsContinue() {
        return hasBody() && read == null && exchange.header("Expect") != null;
    }

    /// Whether sending it twice does no harm.
    boolean repeatable() {
        return !hasBody() && SAFE.contains(exchange.method());
    }

    /// Whether the client asks for an upgrade: HTTP/1.1 only, and only if `Connection` names `Upgrade`.
    boolean wantsUpgrade() {
        return exchange.http1()
                && exchange.header("Upgrade") != null
                && !WithheldHeaders.of(exchange).contains("upgrade")
                && named(exchange.request().getHeaders()).contains("upgrade")
                && !hasBody();
    }

    /// Whether it needs HTTP/2 all the way. The form for browsers, `application/grpc-web`, is made for HTTP/1.1.
    boolean grpc() {
        String type = exchange.header("Content-Type");
        return type != null && GRPC.matcher(type).lookingAt();
    }

    /// The head for an HTTP/2 server. Headers about the body's length are removed, because frames say it there.
    MetaData.Request http2Head(boolean secure) {
        String authority = host == null ? exchange.authority() : host;
        HttpFields fields = exchange.request().getHeaders();
        Set<String> hop = hopOf(fields);
        var passed = HttpFields.build();
        for (HttpField field : fields) {
            String name = field.getLowerCaseName();
            if (!hop.contains(name) && !ours(name) && !name.equals("expect")) {
                passed.add(field);
            }
        }
        if ("trailers".equalsIgnoreCase(exchange.header("TE"))) {
            passed.add(HttpHeader.TE, "trailers");
        }
        if (host != null) {
            passed.add("X-Forwarded-Host", exchange.authority());
        }
        set.forEach(passed::add);
        var uri = HttpURI.build()
                .scheme(secure ? "https" : "http")
                .authority(authority)
                .pathQuery(target());
        return new MetaData.Request(exchange.method(), uri, HttpVersion.HTTP_2, passed);
    }

    ByteBuffer head() {
        HttpFields fields = exchange.request().getHeaders();
        String target = target();
        int names = exchange.method().length() + 2 * exchange.authority().length() + (host == null ? 0 : host.length());
        var head = ByteBuffer.allocate(sizeOf(fields) + sizeOf(set) + names + target.length() + 512);
        head.put(ascii(exchange.method() + " " + target + " HTTP/1.1\r\n"));
        line(head, "Host", host == null ? exchange.authority() : host);
        boolean upgrade = wantsUpgrade();
        Set<String> hop = hopOf(fields);
        var cookies = new StringJoiner("; ");
        for (HttpField field : fields) {
            String name = field.getLowerCaseName();
            if (name.equals("cookie") && !set.containsKey(name)) {
                // HTTP/2 clients may send cookies in pieces, HTTP/1.1 servers expect one header.
                cookies.add(field.getValue());
            } else if (!hop.contains(name) && !ours(name)) {
                line(head, field.getName(), field.getValue());
            }
        }
        if (cookies.length() > 0) {
            line(head, "Cookie", cookies.toString());
        }
        if (host != null) {
            line(head, "X-Forwarded-Host", exchange.authority());
        }
        set.forEach((name, value) -> line(head, name, value));
        if (upgrade) {
            line(head, "Connection", "Upgrade");
            line(head, "Upgrade", String.valueOf(exchange.header("Upgrade")));
        }
        switch (framing) {
            case CHUNKED -> line(head, "Transfer-Encoding", "chunked");
            case LENGTH -> line(head, "Content-Length", Long.toString(length()));
            case EMPTY -> line(head, "Content-Length", "0");
            case NONE -> {}
        }
        return head.put((byte) '\r').put((byte) '\n').flip();
    }

    /// Sends the available part of the body together with the head; true if that was all of it.
    boolean sendWhole(UpstreamConnection connection) throws IOException {
        ByteBuffer head = head();
        if (!hasBody()) {
            connection.write(head);
            return true;
        }
        if (read != null && read.whole()) {
            connection.write(head, ByteBuffer.wrap(read.bytes()));
            return true;
        }
        RequestBody body = exchange.requestBody();
        if (framing == Framing.LENGTH && !expectsContinue()) {
            ByteBuffer first = body.peek();
            if (first != null && first.remaining() == exchange.request().getLength()) {
                connection.write(head, first);
                body.release();
                return true;
            }
        }
        connection.write(head);
        return false;
    }

    /// Sends the body as it arrives, to its end.
    ///
    /// An HTTP/2 client can announce one length and send another. On a reused connection, surplus bytes would
    /// become the next request, and missing ones would be taken from it.
    void sendBody(UpstreamConnection connection) throws IOException {
        if (read != null && read.bytes().length > 0) {
            sendChunk(connection, ByteBuffer.wrap(read.bytes()));
        }
        RequestBody body = exchange.requestBody();
        long left = framing == Framing.LENGTH ? exchange.request().getLength() : Long.MAX_VALUE;
        for (ByteBuffer bytes = body.next(); bytes != null; bytes = body.next()) {
            left -= bytes.remaining();
            if (left < 0) {
                throw new ClientGone("the body is longer than announced");
            }
            if (framing == Framing.CHUNKED) {
                sendChunk(connection, bytes);
            } else {
                connection.write(bytes);
            }
            body.release();
        }
        if (framing == Framing.CHUNKED) {
            connection.write(ByteBuffer.wrap(ascii("0\r\n\r\n")));
        } else if (left > 0) {
            throw new ClientGone("the body is shorter than announced");
        }
    }

    private static void sendChunk(UpstreamConnection connection, ByteBuffer bytes) throws IOException {
        ByteBuffer size = ByteBuffer.wrap(ascii(Integer.toHexString(bytes.remaining()) + "\r\n"));
        connection.write(size, bytes, CHUNK_END.duplicate());
    }

    private long length() {
        return read != null && read.whole()
                ? read.bytes().length
                : exchange.request().getLength();
    }

    /// Names, in lower case, of the headers that concern only the hop they came over.
    static Set<String> hopOf(HttpFields fields) {
        Set<String> names = named(fields);
        if (names.isEmpty()) {
            return HOP;
        }
        names.addAll(HOP);
        return names;
    }

    private boolean ours(String name) {
        return name.equals("host")
                || name.equals("content-length")
                || (read != null && name.equals("expect"))
                || WithheldHeaders.of(exchange).contains(name)
                || set.containsKey(name)
                || (host != null && name.equals("x-forwarded-host"));
    }

    private String target() {
        Request request = exchange.request();
        String other = LastHop.target(exchange);
        String target = other == null ? request.getHttpURI().getPathQuery() : other;
        if (target == null || target.isEmpty()) {
            target = "/";
        }
        if (target.startsWith("?")) {
            target = "/" + target;
        }
        // HTTP/2 carries method and path as free text: a line end in them would be a second request.
        if (!printable(target) || !printable(exchange.method())) {
            throw new CayException(ErrorKind.INVALID_ARGUMENT, "bad characters in the request line");
        }
        return target;
    }

    private static boolean printable(String text) {
        return text.chars().allMatch(c -> c > 0x20 && c != 0x7f && c <= 0xff);
    }

    private static Framing framing(Exchange exchange) {
        Request request = exchange.request();
        long length = request.getLength();
        if (length > 0) {
            return Framing.LENGTH;
        }
        boolean said = request.getHeaders().contains(HttpHeader.CONTENT_LENGTH);
        if (length == 0 && said) {
            return Framing.EMPTY;
        }
        if (exchange.http1()) {
            return request.getHeaders().contains(HttpHeader.TRANSFER_ENCODING) ? Framing.CHUNKED : Framing.NONE;
        }
        // HTTP/2 needs no header to announce a body, so the request must be checked for a first byte or its end.
        RequestBody body = exchange.requestBody();
        if (body.ended() && body.peek() == null) {
            return exchange.method().startsWith("P") ? Framing.EMPTY : Framing.NONE;
        }
        boolean begun = body.peek() != null;
        return begun || !SAFE.contains(exchange.method()) ? Framing.CHUNKED : Framing.NONE;
    }

    private static Set<String> named(HttpFields fields) {
        List<String> values = fields.getValuesList(HttpHeader.CONNECTION);
        if (values.isEmpty()) {
            return Set.of();
        }
        var names = new HashSet<String>();
        for (String value : values) {
            for (String name : value.split(",")) {
                names.add(name.strip().toLowerCase(Locale.ROOT));
            }
        }
        return names;
    }

    private static int sizeOf(HttpFields fields) {
        int size = 0;
        for (HttpField field : fields) {
            String value = field.getValue();
            size += field.getName().length() + (value == null ? 0 : value.length()) + 4;
        }
        return size;
    }

    private static int sizeOf(Map<String, String> headers) {
        return headers.entrySet().stream()
                .mapToInt(header -> header.getKey().length() + header.getValue().length() + 4)
                .sum();
    }

    private static void line(ByteBuffer head, String name, @Nullable String value) {
        HttpGenerator.putTo(new HttpField(name, value == null ? "" : value), head);
    }

    private static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.ISO_8859_1);
    }
}
