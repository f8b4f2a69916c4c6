package dev.cay.wire.node;

import java.util.Locale;

/// How host names and patterns of them are compared.
final class HostNames {
    private HostNames() {}

    /// Whether a pattern means a host: `*` all, `*.name` all below the name but not the name itself.
    static boolean match(String pattern, String host) {
        String wanted = plain(pattern);
        String name = plain(host);
        if (wanted.equals("*")) {
            return true;
        }
        if (wanted.startsWith("*.")) {
            return name.length() > wanted.length() - 1 && name.endsWith(wanted.substring(1));
        }
        return wanted.equals(name);
    }

    /// Lower case, without a dot at the end.
    static String plain(String host) {
        String lower = host.toLowerCase(Locale.ROOT);
        return lower.endsWith(".") ? lower.substring(0, lower.length() - 1) : lower;
    }

    /// Whether it is an address or a range, not a name. The last label of a name has a letter.
    static boolean isAddress(String host) {
        return host.indexOf(':') >= 0 || host.chars().allMatch(c -> (c >= '0' && c <= '9') || c == '.' || c == '/');
    }
}
