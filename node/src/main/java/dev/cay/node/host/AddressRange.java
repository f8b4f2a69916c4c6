package dev.cay.node.host;

import java.util.Locale;

/// A block of IPv4 addresses, like `10.200.0.0/16`.
///
/// @param first first address, as a number
/// @param prefix how many leading bits all its addresses share
public record AddressRange(long first, int prefix) {
    public static AddressRange parse(String text) {
        int slash = text.indexOf('/');
        int prefix = slash < 0 ? 32 : Integer.parseInt(text.substring(slash + 1));
        long address = 0;
        for (String part : (slash < 0 ? text : text.substring(0, slash)).split("\\.", -1)) {
            address = address << 8 | Integer.parseInt(part);
        }
        return new AddressRange(address & mask(prefix), prefix);
    }

    public long last() {
        return first + (1L << (32 - prefix)) - 1;
    }

    public boolean overlaps(AddressRange other) {
        return first <= other.last() && other.first <= last();
    }

    /// Whether the other range is within this one and smaller.
    public boolean isWiderThan(AddressRange other) {
        return prefix < other.prefix && overlaps(other);
    }

    private static long mask(int prefix) {
        return 0xffff_ffffL << (32 - prefix) & 0xffff_ffffL;
    }

    @Override
    public String toString() {
        return String.format(
                Locale.ROOT,
                "%d.%d.%d.%d/%d",
                first >> 24,
                first >> 16 & 0xff,
                first >> 8 & 0xff,
                first & 0xff,
                prefix);
    }
}
