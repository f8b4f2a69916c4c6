package dev.cay.proxy;

import dev.cay.http.Exchange;
import java.util.Locale;
import org.eclipse.jetty.http.HttpField;
import org.eclipse.jetty.http.HttpHeader;

/// Limits cookies of a server in a sandbox to the host name that they came from.
///
/// Host names of all sandboxes are below one domain: a browser would send a cookie for that domain to the servers of
/// every other sandbox. So the attribute `Domain` is removed, and the cookie belongs to the one host.
final class CookieScope {
    private CookieScope() {}

    /// The header with a narrowed cookie. Cookies of servers outside are passed unchanged.
    static HttpField narrowed(HttpField field, Exchange exchange) {
        return OutboundExchange.is(exchange) ? field : narrowed(field, exchange.authority());
    }

    /// @param authority what the client asked for, with or without a port
    static HttpField narrowed(HttpField field, String authority) {
        String cookie = field.getValue();
        if (field.getHeader() != HttpHeader.SET_COOKIE || cookie == null) {
            return field;
        }
        String host = plain(withoutPort(authority));
        String[] parts = cookie.split(";", -1);
        var kept = new StringBuilder(parts[0]);
        for (int i = 1; i < parts.length; i++) {
            if (!widens(parts[i], host)) {
                kept.append(';').append(parts[i]);
            }
        }
        return kept.length() == cookie.length() ? field : new HttpField(field.getHeader(), kept.toString());
    }

    /// Whether `Domain` covers more than the host. Attributes for other domains stay: clients refuse them, and a proxy
    /// in front of Cay may need them.
    private static boolean widens(String attribute, String host) {
        int equals = attribute.indexOf('=');
        if (equals < 0 || !attribute.substring(0, equals).strip().equalsIgnoreCase("Domain")) {
            return false;
        }
        String domain = plain(attribute.substring(equals + 1));
        return !domain.isEmpty() && (host.equals(domain) || host.endsWith("." + domain));
    }

    private static String withoutPort(String authority) {
        int colon = authority.lastIndexOf(':');
        return colon > authority.lastIndexOf(']') ? authority.substring(0, colon) : authority;
    }

    /// The name without dots around it, which have no meaning.
    private static String plain(String name) {
        return name.strip().toLowerCase(Locale.ROOT).replaceAll("^\\.+|\\.+$", "");
    }
}
