package dev.cay.proxy;

import dev.cay.http.Exchange;
import java.util.Locale;
import org.eclipse.jetty.http.HttpField;
import org.eclipse.jetty.http.HttpHeader;

/// Keeps cookies of a server in a sandbox with the host name they came from.
///
/// Host names of all sandboxes lie below one domain: a cookie for that domain would be sent to the servers of every
/// other sandbox, and one sandbox could set cookies for them all. The attribute `Domain` goes, the cookie stays and
/// belongs to the host alone.
final class CookieScope {
    private CookieScope() {}

    /// Servers outside are no business of ours: what they set passes as it is.
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

    /// Other domains stay: clients refuse them, and whoever stands in front of us may know what they are for.
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

    /// Without the dots around it, which mean nothing.
    private static String plain(String name) {
        return name.strip().toLowerCase(Locale.ROOT).replaceAll("^\\.+|\\.+$", "");
    }
}
