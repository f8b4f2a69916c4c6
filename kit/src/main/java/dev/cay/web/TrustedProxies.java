package dev.cay.web;

import dev.cay.web.Addresses.Range;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/// The operator's reverse proxies, whose header `X-Forwarded-For` is trusted.
///
/// Each proxy adds the address of its own client at the end of the header. A client may have written what is before,
/// so the header is read from the end, and only as long as the address before was a trusted proxy.
public final class TrustedProxies {
    /// An IPv4 address with a port, or an address in brackets with or without one, as some proxies write.
    private static final Pattern WITH_PORT = Pattern.compile("([0-9.]+):\\d+|\\[([0-9a-fA-F:.]+)](?::\\d+)?");

    private final List<Range> ranges;

    /// @param ranges addresses, and ranges like `10.1.0.0/16`
    public TrustedProxies(List<String> ranges) {
        this.ranges = ranges.stream().map(Range::parse).toList();
    }

    /// The address of the client that sent a request.
    ///
    /// @param peer      where the connection comes from
    /// @param forwarded all headers `X-Forwarded-For` of the request, in their order
    public String client(String peer, List<String> forwarded) {
        if (!isTrusted(peer)) {
            return peer;
        }
        var hops = new ArrayList<String>();
        forwarded.forEach(header -> hops.addAll(List.of(header.split(",", -1))));
        String client = peer;
        for (String hop : hops.reversed()) {
            var address = address(hop.strip());
            if (address.isEmpty()) {
                break;
            }
            client = address.get().getHostAddress();
            if (!isTrusted(client)) {
                break;
            }
        }
        return client;
    }

    private boolean isTrusted(String text) {
        return !ranges.isEmpty()
                && address(text)
                        .filter(address -> ranges.stream().anyMatch(range -> range.holds(address)))
                        .isPresent();
    }

    /// Nothing is looked up, whatever the text says.
    private static Optional<InetAddress> address(String text) {
        var parts = WITH_PORT.matcher(text);
        String plain = !parts.matches() ? text : parts.group(1) != null ? parts.group(1) : parts.group(2);
        try {
            return Optional.of(InetAddress.ofLiteral(plain));
        } catch (IllegalArgumentException _) {
            return Optional.empty();
        }
    }
}
