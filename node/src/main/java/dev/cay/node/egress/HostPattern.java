package dev.cay.node.egress;

import java.util.Locale;
import java.util.regex.Pattern;

/// A host as rules name it: `example.org`, `*.example.org` for everything below it at any depth but not
/// itself, or `*` for all; each with a port or for all ports.
///
/// @param suffix what names must end with, with its dot; the name itself where it is no wildcard; empty for
/// `*`
/// @param port   0 for all
record HostPattern(boolean wildcard, String suffix, int port) {
    private static final int MAX_NAME = 253;
    private static final Pattern NAME =
            Pattern.compile("(?=.*[a-z])[a-z0-9_]([a-z0-9_-]{0,62})?(\\.[a-z0-9_]([a-z0-9_-]{0,62})?)*");

    /// @param host a name, `*.name` or `*`
    static HostPattern of(String host, int port) {
        String plain = plain(host);
        if (plain.equals("*")) {
            return new HostPattern(true, "", port);
        }
        return plain.startsWith("*.")
                ? new HostPattern(true, plain.substring(1), port)
                : new HostPattern(false, plain, port);
    }

    /// @param host in lower case, without a dot at its end
    boolean matches(String host, int port) {
        return (this.port == 0 || this.port == port) && matches(host);
    }

    boolean matches(String host) {
        return wildcard ? host.length() > suffix.length() && host.endsWith(suffix) : host.equals(suffix);
    }

    /// Lower case, without a dot at the end.
    static String plain(String host) {
        String lower = host.strip().toLowerCase(Locale.ROOT);
        return lower.endsWith(".") ? lower.substring(0, lower.length() - 1) : lower;
    }

    /// Whether the text is a host name. An address is not, however it is written.
    static boolean isName(String plain) {
        if (plain.length() > MAX_NAME || !NAME.matcher(plain).matches()) {
            return false;
        }
        String last = plain.substring(plain.lastIndexOf('.') + 1);
        // The C library reads these as addresses: 127.1, 0x7f.1 and the like.
        return !last.matches("[0-9]+|0x[0-9a-f]*");
    }
}
