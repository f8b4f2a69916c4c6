package dev.cay.server.network;

import dev.cay.server.request.RequestBody;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.node.AddressSet;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;

/// Checks `allowOut` and `denyOut`.
final class Destinations {
    static final int MOST = 1000;

    private static final String LABEL = "[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?";
    private static final Pattern NAME = Pattern.compile("(%1$s\\.)*%1$s\\.?".formatted(LABEL));
    private static final int MOST_NAME = 253;
    private static final String OCTET = "(25[0-5]|2[0-4]\\d|1?\\d?\\d)";
    private static final Pattern IPV4 = Pattern.compile("%1$s(\\.%1$s){3}(/\\d{1,2})?".formatted(OCTET));
    private static final Pattern IPV6 = Pattern.compile("[0-9a-fA-F:]*:[0-9a-fA-F:.]*(/\\d{1,3})?");

    private Destinations() {}

    /// @param network what has the two fields
    static List<String> allowed(RequestBody network) {
        return limited(network, "allowOut").stream().map(Destinations::allowed).toList();
    }

    static List<String> denied(RequestBody network) {
        var denied = limited(network, "denyOut");
        for (String entry : denied) {
            if (!isAddress(entry)) {
                throw refusal("invalid denied CIDR " + shown(entry));
            }
        }
        return denied;
    }

    private static List<String> limited(RequestBody network, String field) {
        var entries = network.texts(field);
        if (entries.size() > MOST) {
            throw RequestBody.invalid("'%s' has %d entries, and may have %d; ranges like 10.1.0.0/16 stand for many"
                    .formatted(field, entries.size(), MOST));
        }
        return entries;
    }

    private static String allowed(String entry) {
        String lower = entry.toLowerCase(Locale.ROOT);
        if (isAddress(lower) || isPattern(lower)) {
            return lower;
        }
        int colon = lower.indexOf(':');
        String host = colon < 0 ? "" : lower.substring(0, colon);
        boolean known = (isAddress(host) || isPattern(host)) && isPort(lower.substring(colon + 1));
        if (!known) {
            throw refusal("invalid allowed address " + shown(entry));
        }
        return lower;
    }

    /// Whether it is an address or a range. The unspecified address (0.0.0.0, ::) is refused, because users often mean
    /// all addresses by it.
    private static boolean isAddress(String text) {
        if (!IPV4.matcher(text).matches() && !IPV6.matcher(text).matches()) {
            return false;
        }
        try {
            var range = AddressSet.Range.parse(text);
            String address = text.indexOf('/') < 0 ? text : text.substring(0, text.indexOf('/'));
            return text.equals(EgressWish.ALL)
                    || !(range.first().isAnyLocalAddress()
                            && AddressSet.Range.parse(address).first().isAnyLocalAddress());
        } catch (IllegalArgumentException _) {
            return false;
        }
    }

    /// Whether it is `*`, a name, or `*.` and a name.
    static boolean isPattern(String text) {
        return text.equals("*") || isName(text.startsWith("*.") ? text.substring(2) : text);
    }

    /// Whether it is a name of DNS, in lower case, that cannot be mistaken for an address.
    static boolean isName(String text) {
        if (text.length() > MOST_NAME || !NAME.matcher(text).matches()) {
            return false;
        }
        String plain = text.endsWith(".") ? text.substring(0, text.length() - 1) : text;
        return plain.substring(plain.lastIndexOf('.') + 1).chars().anyMatch(c -> c < '0' || c > '9');
    }

    static boolean isPort(String text) {
        return text.matches("[1-9]\\d{0,4}") && Integer.parseInt(text) < 65_536;
    }

    static CayException refusal(String message) {
        return new CayException(ErrorKind.INVALID_ARGUMENT, message);
    }

    /// The start of a client's text, as much as an error message may repeat.
    static String shown(String text) {
        return text.length() > 200 ? text.substring(0, 200) + "..." : text;
    }
}
