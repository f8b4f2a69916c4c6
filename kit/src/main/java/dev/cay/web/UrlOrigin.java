package dev.cay.web;

import java.net.InetAddress;
import java.net.URI;
import java.util.Locale;
import java.util.Optional;

/// The scheme, host and port of a URL. Two URLs with the same origin lead to the same server as far as credentials are
/// concerned.
///
/// @param host without the brackets of IPv6
public record UrlOrigin(boolean secure, String host, int port) {
    public static UrlOrigin of(URI url) {
        boolean secure = "https".equalsIgnoreCase(url.getScheme());
        String host = String.valueOf(url.getHost()).toLowerCase(Locale.ROOT);
        if (host.startsWith("[")) {
            host = host.substring(1, host.length() - 1);
        }
        return new UrlOrigin(secure, host, url.getPort() > 0 ? url.getPort() : secure ? 443 : 80);
    }

    /// Path and query of a URL, as a request has them.
    public static String target(URI url) {
        String path = url.getRawPath() == null || url.getRawPath().isEmpty() ? "/" : url.getRawPath();
        return url.getRawQuery() == null ? path : path + "?" + url.getRawQuery();
    }

    /// Host and port as in the header `Host`.
    String authority() {
        String name = host.contains(":") ? "[" + host + "]" : host;
        return port == (secure ? 443 : 80) ? name : name + ":" + port;
    }

    /// The address, if it is one and not a name.
    Optional<InetAddress> literal() {
        try {
            return Optional.of(InetAddress.ofLiteral(host));
        } catch (IllegalArgumentException _) {
            return Optional.empty();
        }
    }
}
