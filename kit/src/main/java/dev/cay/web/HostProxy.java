package dev.cay.web;

import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// The proxy by which this host reaches the world, if the operator set one for the daemon.
///
/// @param credentials as in the header; null for none
/// @param direct      hosts that are reached without it, and all below them
public record HostProxy(String host, int port, @Nullable String credentials, List<String> direct) {
    private static final int LONGEST_ANSWER = 16 * 1024;

    /// Host names that some resolvers read as an address although they are none by the rules, like `127.1` and
    /// `0x7f000001`.
    private static final Pattern ODD_ADDRESS = Pattern.compile("(.*\\.)?([0-9]+|0x[0-9a-f]*)\\.?");

    private static final Pattern NEARBY =
            Pattern.compile("(.*\\.)?(localhost|local|internal|home\\.arpa)\\.?|[^.]*\\.?");

    public HostProxy {
        direct = List.copyOf(direct);
    }

    public static @Nullable HostProxy of(Map<String, String> environment) {
        String given = first(environment, "HTTPS_PROXY", "https_proxy");
        if (given.isBlank()) {
            return null;
        }
        try {
            var url = new URI(given.contains("://") ? given : "http://" + given);
            if (url.getHost() == null || !"http".equalsIgnoreCase(url.getScheme())) {
                throw unusable();
            }
            String user = url.getUserInfo();
            String credentials = user == null
                    ? null
                    : "Basic " + Base64.getEncoder().encodeToString(user.getBytes(StandardCharsets.UTF_8));
            var direct = Arrays.stream(
                            first(environment, "NO_PROXY", "no_proxy").split("[,\\s]+"))
                    .map(host -> host.toLowerCase(Locale.ROOT).replaceFirst("^\\*?\\.", ""))
                    .filter(host -> !host.isEmpty());
            return new HostProxy(url.getHost(), url.getPort() > 0 ? url.getPort() : 80, credentials, direct.toList());
        } catch (URISyntaxException _) {
            // Without the cause: it quotes the address, which may hold a password.
            throw unusable();
        }
    }

    /// Plain HTTP is for the operator's own network, where no proxy is needed.
    public boolean serves(UrlOrigin origin) {
        return origin.secure()
                && direct.stream()
                        .noneMatch(host -> host.equals("*")
                                || host.equals(origin.host())
                                || origin.host().endsWith("." + host));
    }

    /// Whether a name means the same everywhere: not the proxy's own machine, nor something beside it.
    public static boolean worldwide(String host) {
        return !ODD_ADDRESS.matcher(host).matches() && !NEARBY.matcher(host).matches();
    }

    /// Has the proxy connect to the origin (CONNECT). Afterwards the socket carries the origin's bytes.
    ///
    /// @param limit for reaching the proxy
    void connect(Socket socket, UrlOrigin origin, Duration limit) throws IOException {
        socket.connect(new InetSocketAddress(host, port), (int) limit.toMillis());
        String name = origin.host().contains(":") ? "[" + origin.host() + "]" : origin.host();
        String target = name + ":" + origin.port();
        var lines = new ArrayList<>(List.of("CONNECT " + target + " HTTP/1.1", "Host: " + target));
        if (credentials != null) {
            lines.add("Proxy-Authorization: " + credentials);
        }
        socket.getOutputStream().write((String.join("\r\n", lines) + "\r\n\r\n").getBytes(StandardCharsets.ISO_8859_1));
        String status = answer(socket).lines().findFirst().orElse("");
        if (!status.matches("HTTP/1\\.[01] 2\\d\\d.*")) {
            String code = status.matches("HTTP/1\\.[01] \\d{3}.*") ? status.substring(9, 12) : "no HTTP";
            throw new IOException("the proxy of this host does not connect to it (%s)".formatted(code));
        }
    }

    /// Reads the proxy's answer byte by byte, because the bytes after it belong to the origin's connection.
    private static String answer(Socket socket) throws IOException {
        var head = new StringBuilder();
        while (head.length() < LONGEST_ANSWER) {
            int next = socket.getInputStream().read();
            if (next < 0) {
                break;
            }
            head.append((char) next);
            if (next == '\n'
                    && (head.toString().endsWith("\r\n\r\n") || head.toString().endsWith("\n\n"))) {
                return head.toString();
            }
        }
        throw new IOException("the proxy of this host does not answer");
    }

    private static CayException unusable() {
        return new CayException(
                ErrorKind.INVALID_ARGUMENT, "HTTPS_PROXY must be an address like http://proxy.example.org:3128");
    }

    private static String first(Map<String, String> environment, String upper, String lower) {
        return environment.getOrDefault(upper, environment.getOrDefault(lower, ""));
    }

    /// The proxy's address without credentials.
    @Override
    public String toString() {
        return "HostProxy[%s:%d]".formatted(host, port);
    }
}
