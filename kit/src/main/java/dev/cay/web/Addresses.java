package dev.cay.web;

import java.net.BindException;
import java.net.DatagramSocket;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/// The addresses that the node may call for its users: public ones, and those that the operator names.
///
/// @param ranges ranges that may be called although they are not public
/// @param names  hosts that may be called whatever they resolve to; `*.example.org` means all below it
public record Addresses(List<Range> ranges, List<String> names) {
    private static final List<Range> CLOSED =
            ClosedAddresses.IPV4.stream().map(Range::parse).toList();

    /// The only part of IPv6 that is given to networks of the internet, and what of it is for tunnels and examples.
    private static final Range PUBLIC6 = Range.parse("2000::/3");

    private static final List<Range> CLOSED6 = ranges("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20");

    /// The prefix by which networks without IPv4 reach it (NAT64); the last four bytes are the IPv4 address.
    private static final Range NAT64 = Range.parse("64:ff9b::/96");

    public Addresses {
        ranges = List.copyOf(ranges);
        names = List.copyOf(names);
    }

    /// @param entries host names, `*.` and a domain, addresses, or ranges like `10.1.0.0/16`
    public static Addresses allowing(List<String> entries) {
        var numeric = entries.stream().filter(Range::looksLikeOne).map(Range::parse);
        var names = entries.stream().filter(entry -> !Range.looksLikeOne(entry));
        return new Addresses(numeric.toList(), names.map(Addresses::plain).toList());
    }

    /// A block of addresses with the same leading bits.
    public record Range(InetAddress first, int prefix) {
        static boolean looksLikeOne(String text) {
            return text.contains(":") || text.contains("/") || text.matches("[0-9.]+");
        }

        static Range parse(String text) {
            int slash = text.indexOf('/');
            var first = InetAddress.ofLiteral(slash < 0 ? text : text.substring(0, slash));
            return new Range(
                    first, slash < 0 ? first.getAddress().length * 8 : Integer.parseInt(text.substring(slash + 1)));
        }

        boolean holds(InetAddress address) {
            byte[] mine = first.getAddress();
            byte[] other = address.getAddress();
            if (mine.length != other.length) {
                return false;
            }
            for (int bit = 0; bit < prefix; bit++) {
                int mask = 0x80 >> (bit & 7);
                if ((mine[bit >> 3] & mask) != (other[bit >> 3] & mask)) {
                    return false;
                }
            }
            return true;
        }
    }

    /// Whether the operator named this host itself.
    boolean named(String host) {
        String plain = plain(host);
        return names.stream()
                .anyMatch(name -> name.startsWith("*.") ? plain.endsWith(name.substring(1)) : plain.equals(name));
    }

    /// Whether the operator named it, as a host or by its address.
    boolean named(String host, InetAddress address) {
        return named(host) || ranges.stream().anyMatch(range -> range.holds(address));
    }

    /// Whether the node may connect to this address for this host.
    public boolean allow(String host, InetAddress address) {
        return named(host, address) || (isPublic(address) && !isOurs(address));
    }

    /// IPv4 in the clothes of IPv6 is IPv4: Java takes the mapped form for what it is, the form of NAT64 is
    /// taken apart here, and all other forms lie outside of what is public.
    public static boolean isPublic(InetAddress address) {
        if (address instanceof Inet4Address) {
            return CLOSED.stream().noneMatch(range -> range.holds(address));
        }
        if (NAT64.holds(address)) {
            return isPublic(lastFourBytes(address));
        }
        return PUBLIC6.holds(address) && CLOSED6.stream().noneMatch(range -> range.holds(address));
    }

    /// Whether this host has the address. A public address of this host leads past its firewall, to servers that
    /// are meant for this host alone.
    ///
    /// A socket can be bound only to addresses of this host, and trying takes microseconds; listing all links, of
    /// which each sandbox has one, takes milliseconds. Where binding succeeds, the links decide, because a host may
    /// allow binding to foreign addresses (`ip_nonlocal_bind`).
    private static boolean isOurs(InetAddress address) {
        try (var _ = new DatagramSocket(new InetSocketAddress(address, 0))) {
            return NetworkInterface.getByInetAddress(address) != null;
        } catch (BindException _) {
            return false;
        } catch (SocketException _) {
            return true;
        }
    }

    private static InetAddress lastFourBytes(InetAddress address) {
        byte[] bytes = address.getAddress();
        return InetAddress.ofLiteral(
                "%d.%d.%d.%d".formatted(bytes[12] & 0xff, bytes[13] & 0xff, bytes[14] & 0xff, bytes[15] & 0xff));
    }

    private static String plain(String host) {
        String lower = host.toLowerCase(Locale.ROOT);
        return lower.endsWith(".") ? lower.substring(0, lower.length() - 1) : lower;
    }

    private static List<Range> ranges(String... texts) {
        return Stream.of(texts).map(Range::parse).toList();
    }
}
