package dev.cay.node.network;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Optional;
import java.util.Set;

/// Names that are no part of the public DNS, and that the name servers of a host may know all the same.
final class PrivateZones {
    /// By RFC 6762, RFC 8375 and ICANN's word on `internal`, and what is often used like these.
    private static final Set<String> TOPS =
            Set.of("internal", "local", "localdomain", "lan", "home", "corp", "intranet", "private");

    private static final String HOME = "home.arpa";
    private static final String REVERSE4 = ".in-addr.arpa";
    private static final String REVERSE6 = ".ip6.arpa";

    private PrivateZones() {}

    /// @param name in lower case
    static boolean hold(String name) {
        return TOPS.contains(name.substring(name.lastIndexOf('.') + 1))
                || name.equals(HOME)
                || name.endsWith("." + HOME);
    }

    /// The address whose name is asked for, or the first one of a range; nothing for other names.
    static Optional<InetAddress> reversed(String name) {
        if (name.endsWith(REVERSE4)) {
            return address(name.substring(0, name.length() - REVERSE4.length()), 4, 8, 10);
        }
        return name.endsWith(REVERSE6)
                ? address(name.substring(0, name.length() - REVERSE6.length()), 16, 4, 16)
                : Optional.empty();
    }

    /// @param bits  that one label stands for
    /// @param radix of its digits
    private static Optional<InetAddress> address(String labels, int size, int bits, int radix) {
        byte[] bytes = new byte[size];
        var parts = labels.split("\\.");
        try {
            for (int i = 0; i < parts.length && i * bits < size * 8; i++) {
                int value = Integer.parseInt(parts[parts.length - 1 - i], radix);
                bytes[i * bits / 8] |= (byte) (value << (8 - bits - i * bits % 8));
            }
            return Optional.of(InetAddress.getByAddress(bytes));
        } catch (NumberFormatException | UnknownHostException _) {
            return Optional.empty();
        }
    }
}
