package dev.cay.acceptance;

import dev.cay.node.host.Programs;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.URI;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.Arrays;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// Where this machine gets packages from: tests that install some inside sandboxes open these addresses to them, as
/// operators do whose mirror lies in a network of their own.
final class PackageMirrors {
    private static final Duration LIMIT = Duration.ofMinutes(1);

    private PackageMirrors() {}

    /// The setting that opens the mirrors of apt and npm.
    static Map<String, String> opened() {
        var programs = Programs.ofHost();
        var addresses = Stream.concat(
                        programs.require(LIMIT, "apt-get", "indextargets", "--format", "$(URI)")
                                .lines(),
                        programs.run(LIMIT, "npm", "config", "get", "registry")
                                .output()
                                .lines())
                .map(String::strip)
                .filter(line -> line.matches("https?://\\S+"))
                .map(URI::create)
                .flatMap(PackageMirrors::places)
                .distinct();
        return Map.of("network.openAddresses", addresses.collect(Collectors.joining(",")));
    }

    private static Stream<String> places(URI mirror) {
        int usual = mirror.getScheme().equals("https") ? 443 : 80;
        int port = mirror.getPort() < 0 ? usual : mirror.getPort();
        try {
            return Arrays.stream(InetAddress.getAllByName(mirror.getHost()))
                    .filter(address -> address instanceof Inet4Address && !address.isLoopbackAddress())
                    .map(address -> address.getHostAddress() + ":" + port);
        } catch (UnknownHostException _) {
            return Stream.empty();
        }
    }
}
