package dev.cay.node.host;

import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/// Networks this host reaches by a route of their own. The default route is not one of them.
public record HostRoutes(List<Route> routes) {
    private static final String OURS = "cay";

    /// @param through name of the interface
    public record Route(String through, AddressRange range) {}

    public HostRoutes {
        routes = List.copyOf(routes);
    }

    public static HostRoutes ofHost() {
        // Read at once, because the file has no size.
        try (var in = Files.newInputStream(Path.of("/proc/net/route"))) {
            return parse(new String(in.readAllBytes(), StandardCharsets.US_ASCII));
        } catch (IOException _) {
            return new HostRoutes(List.of());
        }
    }

    /// Lines as in `/proc/net/route`: name, destination and, in the eighth place, mask, both little-endian.
    public static HostRoutes parse(String table) {
        return new HostRoutes(table.lines()
                .skip(1)
                .map(line -> line.split("\\s+"))
                .filter(fields -> fields.length >= 8 && !fields[7].equals("00000000"))
                .map(fields -> new Route(fields[0], new AddressRange(number(fields[1]), prefix(fields[7]))))
                .toList());
    }

    /// A foreign route into these addresses, the narrowest first. Routes of other Cays do not count: {@link HostLedger}
    /// separates these.
    public Optional<Route> into(AddressRange range) {
        return routes.stream()
                .filter(route ->
                        !route.through().startsWith(OURS) && route.range().overlaps(range))
                .min((one, other) ->
                        Integer.compare(other.range().prefix(), one.range().prefix()));
    }

    /// Refuses a range in which the host has a network. A wider route around it does no harm, because sandboxes' own
    /// routes are narrower, and is often a VPN that was started later.
    public void requireFree(String range) {
        var ours = AddressRange.parse(range);
        var found = into(ours).filter(route -> !route.range().isWiderThan(ours));
        if (found.isPresent()) {
            throw new CayException(
                    ErrorKind.INVALID_ARGUMENT,
                    "network.range %s overlaps %s, which this host reaches through %s; set network.range to addresses that are not in use"
                            .formatted(range, found.get().range(), found.get().through()));
        }
    }

    private static int prefix(String mask) {
        return Integer.bitCount(Integer.parseUnsignedInt(mask, 16));
    }

    private static long number(String hex) {
        return Integer.toUnsignedLong(Integer.reverseBytes(Integer.parseUnsignedInt(hex, 16)));
    }
}
