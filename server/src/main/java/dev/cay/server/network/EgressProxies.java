package dev.cay.server.network;

import dev.cay.server.request.RequestBody;
import dev.cay.web.Dialer;
import dev.cay.web.UrlOrigin;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.TeamId;
import java.io.IOException;
import java.net.InetAddress;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/// Checks `egressProxy`. Its host is looked up, because a proxy in a private network would be a way into it.
final class EgressProxies {
    private static final int MOST_CREDENTIAL = 255;

    private final Dialer dialer;
    private final ProxyPasswords passwords;

    /// @param dialer checks addresses as it does for connections
    EgressProxies(Dialer dialer, ProxyPasswords passwords) {
        this.dialer = dialer;
        this.passwords = passwords;
    }

    /// @param team    that names the proxy
    /// @param network what has the field `egressProxy`
    EgressWish.@Nullable Proxy read(TeamId team, RequestBody network) {
        if (!network.has("egressProxy")) {
            return null;
        }
        var proxy = network.object("egressProxy");
        String username = credential(proxy, "username");
        String password = credential(proxy, "password");
        if (password != null && username == null) {
            throw invalid("a password needs a username");
        }
        String address = proxy.filled("address");
        if (address == null) {
            throw invalid("'address' is required: host:port of a SOCKS5 proxy");
        }
        String lower = address.toLowerCase(Locale.ROOT);
        check(team, lower);
        return new EgressWish.Proxy(lower, username, password == null ? null : passwords.seal(password));
    }

    private static @Nullable String credential(RequestBody proxy, String name) {
        String value = proxy.text(name);
        if (value == null || value.isEmpty()) {
            return null;
        }
        if (value.length() > MOST_CREDENTIAL) {
            throw invalid("'%s' must have at most %d characters".formatted(name, MOST_CREDENTIAL));
        }
        return value;
    }

    private void check(TeamId team, String address) {
        int colon = address.lastIndexOf(':');
        String host = colon < 0 ? "" : address.substring(0, colon);
        if (!(Destinations.isName(host) || isIpv4(host)) || !Destinations.isPort(address.substring(colon + 1))) {
            throw invalid("address must be host:port, not '%s'".formatted(Destinations.shown(address)));
        }
        try {
            var origin = new UrlOrigin(false, host, Integer.parseInt(address.substring(colon + 1)));
            dialer.check(origin, team.value());
        } catch (CayException e) {
            throw e.kind() == ErrorKind.PERMISSION_DENIED ? invalid(e.userMessage()) : e;
        } catch (IOException e) {
            throw invalid("%s: %s".formatted(host, Dialer.why(e)));
        }
    }

    private static boolean isIpv4(String text) {
        try {
            return text.matches("\\d+(\\.\\d+){3}") && InetAddress.ofLiteral(text) != null;
        } catch (IllegalArgumentException _) {
            return false;
        }
    }

    private static CayException invalid(String why) {
        return new CayException(ErrorKind.INVALID_ARGUMENT, "Invalid egress proxy config: " + why);
    }
}
