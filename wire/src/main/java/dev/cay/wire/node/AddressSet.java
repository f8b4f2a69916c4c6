package dev.cay.wire.node;

import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;

/// Addresses and ranges of addresses, of both kinds of IP.
///
/// @param ranges sorted and without overlaps where they are of IPv4
public record AddressSet(List<Range> ranges) {
    private static final long LAST = 0xffff_ffffL;

    public AddressSet {
        ranges = List.copyOf(ranges);
    }

    /// The first and the last address of a range, which are of one kind.
    public record Range(InetAddress first, InetAddress last) {
        /// @param text an address, or an address and the length of its prefix, like `10.1.0.0/16`
        /// @throws IllegalArgumentException if it is none
        public static Range parse(String text) {
            int slash = text.indexOf('/');
            var address = InetAddress.ofLiteral(slash < 0 ? text : text.substring(0, slash));
            byte[] first = address.getAddress();
            int bits = first.length * 8;
            int prefix = slash < 0 ? bits : Integer.parseInt(text.substring(slash + 1));
            if (prefix < 0 || prefix > bits) {
                throw new IllegalArgumentException("prefix of " + text);
            }
            byte[] last = first.clone();
            for (int bit = prefix; bit < bits; bit++) {
                first[bit >> 3] &= (byte) ~(0x80 >> (bit & 7));
                last[bit >> 3] |= (byte) (0x80 >> (bit & 7));
            }
            return new Range(address(first), address(last));
        }

        boolean isIpv4() {
            return first instanceof Inet4Address;
        }

        boolean holds(InetAddress address) {
            byte[] value = address.getAddress();
            byte[] low = first.getAddress();
            return value.length == low.length
                    && Arrays.compareUnsigned(low, value) <= 0
                    && Arrays.compareUnsigned(value, last.getAddress()) <= 0;
        }

        private static InetAddress address(byte[] bytes) {
            try {
                return InetAddress.getByAddress(bytes);
            } catch (UnknownHostException e) {
                throw new IllegalArgumentException(e);
            }
        }
    }

    /// @param texts what {@link Range#parse} understands
    public static AddressSet of(List<String> texts) {
        var all = texts.stream().map(Range::parse).toList();
        var ranges = new ArrayList<>(merged(all.stream().filter(Range::isIpv4).toList()));
        all.stream().filter(range -> !range.isIpv4()).forEach(ranges::add);
        return new AddressSet(ranges);
    }

    public boolean holds(InetAddress address) {
        return ranges.stream().anyMatch(range -> range.holds(address));
    }

    /// Whether all addresses of IPv4 are in it.
    public boolean hasAllIpv4() {
        return ipv4().stream().anyMatch(range -> number(range.first()) == 0 && number(range.last()) == LAST);
    }

    /// Its ranges of IPv4, sorted and without overlaps.
    public List<Range> ipv4() {
        return ranges.stream().filter(Range::isIpv4).toList();
    }

    /// Merges ranges that overlap, because the kernel refuses a set with such ranges.
    private static List<Range> merged(List<Range> some) {
        var sorted = some.stream()
                .sorted(Comparator.comparingLong(range -> number(range.first())))
                .toList();
        var merged = new ArrayList<Range>();
        for (var range : sorted) {
            if (!merged.isEmpty()
                    && number(range.first()) <= number(merged.getLast().last()) + 1) {
                var before = merged.removeLast();
                boolean longer = number(range.last()) > number(before.last());
                merged.add(new Range(before.first(), longer ? range.last() : before.last()));
            } else {
                merged.add(range);
            }
        }
        return merged;
    }

    private static long number(InetAddress address) {
        return Integer.toUnsignedLong(ByteBuffer.wrap(address.getAddress()).getInt());
    }
}
