package dev.cay.config;

import dev.cay.wire.node.AddressSet;
import java.net.InetAddress;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// Parses the text of a key into a value. Refuses other text by an {@link IllegalArgumentException} whose message says
/// what to write instead, as the end of the sentence "it must be ...".
@FunctionalInterface
public interface ConfigValue<T> {
    Pattern NETWORK = Pattern.compile("([0-9a-f:]*:[0-9a-f:.]*|\\d+\\.\\d+\\.\\d+\\.\\d+)(?:/(\\d{1,3}))?");

    T parse(String text);

    static ConfigValue<String> matching(String regex, String expected) {
        var pattern = Pattern.compile(regex);
        return text -> {
            require(pattern.matcher(text).matches(), expected);
            return text;
        };
    }

    static ConfigValue<Path> path() {
        String expected = "an absolute path";
        return text -> {
            require(text.startsWith("/"), expected);
            try {
                return Path.of(text).normalize();
            } catch (InvalidPathException _) {
                throw new IllegalArgumentException(expected);
            }
        };
    }

    /// Empty text means unset.
    static <T> ConfigValue<Optional<T>> optional(ConfigValue<T> value) {
        return text -> text.isEmpty() ? Optional.empty() : Optional.of(value.parse(text));
    }

    /// A list: in the file a YAML list, in a variable separated by commas.
    static <T> ConfigValue<List<T>> list(ConfigValue<T> value) {
        return text -> Arrays.stream(text.split(","))
                .map(String::strip)
                .filter(item -> !item.isEmpty())
                .map(value::parse)
                .toList();
    }

    static <T> ConfigValue<List<T>> nonEmptyList(ConfigValue<T> value, String expected) {
        return text -> {
            List<T> items = list(value).parse(text);
            require(!items.isEmpty(), expected);
            return items;
        };
    }

    static ConfigValue<Integer> number(int least, int most) {
        String expected = "a whole number from %d to %d".formatted(least, most);
        return text -> (int) inRange(wholeNumber(text.replace("_", ""), expected), least, most, expected);
    }

    static ConfigValue<Boolean> yesOrNo() {
        return text -> switch (text.toLowerCase(Locale.ROOT)) {
            case "true", "yes", "on" -> true;
            case "false", "no", "off" -> false;
            default -> throw new IllegalArgumentException("true or false");
        };
    }

    /// A value, or a word that means no value.
    static <T> ConfigValue<Optional<T>> unless(String word, ConfigValue<T> value) {
        return text -> {
            if (text.equals(word)) {
                return Optional.empty();
            }
            try {
                return Optional.of(value.parse(text));
            } catch (IllegalArgumentException e) {
                throw new IllegalArgumentException(e.getMessage() + ", or " + word, e);
            }
        };
    }

    /// `90s`, `5m`, `1h30m`, `30d`; a bare number means seconds.
    static ConfigValue<Duration> duration(Duration least, Duration most) {
        String expected = "a time like 90s, 5m, 1h30m or 2d, from %s to %s".formatted(show(least), show(most));
        return text -> {
            Duration value =
                    text.matches("\\d{1,9}") ? Duration.ofSeconds(Long.parseLong(text)) : units(text, expected);
            require(value.compareTo(least) >= 0 && value.compareTo(most) <= 0, expected);
            return value;
        };
    }

    /// `512MB`, `20GB`; a bare number means megabytes. 1 GB is 1024 MB here, as everywhere in Cay.
    static ConfigValue<Integer> megabytes(int least, int most) {
        String expected = "a size like 512MB or 20GB, from %dMB to %dMB".formatted(least, most);
        return text -> {
            long bytes = bytes(text, 1L << 20, expected);
            require(bytes % (1L << 20) == 0, expected);
            return (int) inRange(bytes >> 20, least, most, expected);
        };
    }

    /// `64KB`, `1MB`; a bare number means bytes.
    static ConfigValue<Long> bytes(long least, long most) {
        String expected = "a size like 64KB or 1MB, from %d to %d bytes".formatted(least, most);
        return text -> inRange(bytes(text, 1, expected), least, most, expected);
    }

    /// An IPv4 or IPv6 address. A name is refused, because it would have to be looked up.
    static ConfigValue<String> address() {
        String expected = "an IP address such as 127.0.0.1, 0.0.0.0 or ::1";
        return text -> {
            try {
                return InetAddress.ofLiteral(text) == null ? "" : text;
            } catch (IllegalArgumentException _) {
                throw new IllegalArgumentException(expected);
            }
        };
    }

    /// An IPv4 address and a port. Addresses of the host itself and of cloud metadata are refused: no mirror has such
    /// an address.
    static ConfigValue<String> openAddress() {
        String expected = "address:port with an IPv4 address of your network, such as 10.1.2.3:80";
        String octet = "(25[0-5]|2[0-4]\\d|1?\\d?\\d)";
        var shape = Pattern.compile("(%s(\\.%s){3}):(\\d{1,5})".formatted(octet, octet));
        return text -> {
            Matcher parts = shape.matcher(text);
            require(parts.matches(), expected);
            int port = Integer.parseInt(parts.group(parts.groupCount()));
            require(port > 0 && port < 65_536, expected);
            var address = InetAddress.ofLiteral(parts.group(1));
            boolean closed = address.isLoopbackAddress()
                    || address.isAnyLocalAddress()
                    || address.isLinkLocalAddress()
                    || address.isMulticastAddress();
            require(!closed, "no loopback, link-local or multicast address, but " + expected);
            return text;
        };
    }

    /// An IPv4 address, or a range of them.
    static ConfigValue<String> addresses() {
        String expected = "an IPv4 address or a range such as 203.0.113.0/24";
        var shape = Pattern.compile("\\d+\\.\\d+\\.\\d+\\.\\d+(/\\d{1,2})?");
        return text -> {
            require(shape.matcher(text).matches(), expected);
            try {
                return AddressSet.of(List.of(text)).ranges().isEmpty() ? "" : text;
            } catch (IllegalArgumentException _) {
                throw new IllegalArgumentException(expected);
            }
        };
    }

    /// An IPv4 range that begins at its own network address.
    static ConfigValue<String> range(int shortest, int longest) {
        String expected = "a private IPv4 range such as 10.200.0.0/16, with a prefix from /%d to /%d"
                .formatted(shortest, longest);
        var pattern = Pattern.compile("(\\d{1,3}\\.\\d{1,3}\\.\\d{1,3}\\.\\d{1,3})/(\\d{1,2})");
        return text -> {
            Matcher parts = pattern.matcher(text);
            require(parts.matches(), expected);
            address().parse(parts.group(1));
            int prefix = (int) inRange(Long.parseLong(parts.group(2)), shortest, longest, expected);
            int network = Arrays.stream(parts.group(1).split("\\."))
                    .mapToInt(Integer::parseInt)
                    .reduce(0, (sum, octet) -> sum << 8 | octet);
            require((network & ~(-1 << (32 - prefix))) == 0, expected + "; the address must be the first of the range");
            return text;
        };
    }

    /// An address, or a range of addresses, of either kind.
    static ConfigValue<String> network() {
        String expected = "an address or a range such as 10.1.0.0/16 or fd00::/8";
        return text -> {
            String lower = text.toLowerCase(Locale.ROOT);
            require(isNetwork(lower), expected);
            return lower;
        };
    }

    private static boolean isNetwork(String lower) {
        Matcher parts = NETWORK.matcher(lower);
        if (!parts.matches()) {
            return false;
        }
        try {
            int bits = InetAddress.ofLiteral(parts.group(1)).getAddress().length * 8;
            return parts.group(2) == null || Integer.parseInt(parts.group(2)) <= bits;
        } catch (IllegalArgumentException _) {
            return false;
        }
    }

    /// A host name, a domain with `*.` before it, an address, or a range of addresses of either kind.
    static ConfigValue<String> destination() {
        String expected = "a host name, *.domain, an address or a range such as 10.1.0.0/16";
        var name = Pattern.compile("(\\*\\.)?([a-z0-9_]([a-z0-9_-]*[a-z0-9])?\\.)*[a-z]([a-z0-9-]*[a-z0-9])?");
        return text -> {
            String lower = text.toLowerCase(Locale.ROOT);
            require(name.matcher(lower).matches() || isNetwork(lower), expected);
            return lower;
        };
    }

    private static Duration units(String text, String expected) {
        require(text.matches("(\\d{1,9}(ms|s|m|h|d))+"), expected);
        Duration sum = Duration.ZERO;
        Matcher part = Pattern.compile("(\\d+)(ms|s|m|h|d)").matcher(text);
        while (part.find()) {
            long count = Long.parseLong(part.group(1));
            sum = sum.plus(
                    switch (part.group(2)) {
                        case "ms" -> Duration.ofMillis(count);
                        case "s" -> Duration.ofSeconds(count);
                        case "m" -> Duration.ofMinutes(count);
                        case "h" -> Duration.ofHours(count);
                        default -> Duration.ofDays(count);
                    });
        }
        return sum;
    }

    private static long bytes(String text, long bareUnit, String expected) {
        Matcher parts = Pattern.compile("(\\d{1,12})\\s*(|B|KB|MB|GB|TB)")
                .matcher(text.toUpperCase(Locale.ROOT).replace("_", "").replace("IB", "B"));
        require(parts.matches(), expected);
        var units = Map.of("", bareUnit, "B", 1L, "KB", 1L << 10, "MB", 1L << 20, "GB", 1L << 30, "TB", 1L << 40);
        try {
            return Math.multiplyExact(Long.parseLong(parts.group(1)), units.getOrDefault(parts.group(2), 1L));
        } catch (ArithmeticException _) {
            throw new IllegalArgumentException(expected);
        }
    }

    private static long wholeNumber(String text, String expected) {
        require(text.matches("-?\\d{1,12}"), expected);
        return Long.parseLong(text);
    }

    private static long inRange(long value, long least, long most, String expected) {
        require(value >= least && value <= most, expected);
        return value;
    }

    private static void require(boolean holds, String expected) {
        if (!holds) {
            throw new IllegalArgumentException(expected);
        }
    }

    private static String show(Duration time) {
        return time.toString().substring(2).toLowerCase(Locale.ROOT);
    }
}
