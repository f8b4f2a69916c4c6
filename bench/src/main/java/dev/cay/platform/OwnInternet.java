package dev.cay.platform;

import dev.cay.life.Undo;
import dev.cay.node.host.HostLedger;
import dev.cay.node.host.Programs;
import dev.cay.node.host.Reservation;
import dev.cay.tls.LocalAuthority;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/// A host in a network namespace, and an internet behind it that owns all addresses that are used, those of
/// well known name servers too. No packet leaves the machine.
///
/// In a mount namespace of its own, the host trusts the authority that signs for {@link #DOMAIN}, and knows
/// where `www.allowed.test`, `mcp.allowed.test` and `auth.allowed.test` are.
public final class OwnInternet implements AutoCloseable {
    /// Names below it are servers of this internet.
    public static final String DOMAIN = "allowed.test";

    /// The address of most servers.
    public static final String ADDRESS = "6.6.6.2";

    /// The address of servers that rules do not name.
    public static final String OTHER = "6.6.6.3";

    /// The same by IPv6, which the host reaches and no sandbox.
    public static final String OTHER6 = "2001:db8:66::3";

    private static final Duration LIMIT = Duration.ofSeconds(30);
    private static final Path ROOTS = Path.of("/etc/ssl/certs/ca-certificates.crt");
    private static final Path HOSTS = Path.of("/etc/hosts");
    private static final String ENTER = """
            [ ! -f "$2" ] || mount --bind "$1" "$2"
            mount --bind "$3" "$4"
            shift 4
            exec "$@"
            """;

    private final Undo closing = new Undo();
    private final Path directory;
    private final String host;
    private final String outside;

    /// @param servers a Python program that serves at the addresses; it says `READY` when it does
    public OwnInternet(InputStream servers) throws IOException {
        this.directory = Files.createTempDirectory("cay-internet-");
        closing.step(() -> Programs.ofHost().require(LIMIT, "rm", "-r", directory.toString()));
        try (servers) {
            Reservation place = HostLedger.ofHost().reserve(directory, 24);
            closing.step(() -> HostLedger.ofHost().release(place));
            this.host = "cay" + place.instance() + "-eh";
            this.outside = "cay" + place.instance() + "-en";
            connect();
            serve(servers);
        } catch (IOException | RuntimeException e) {
            closing.close();
            throw e;
        }
    }

    private void connect() {
        for (String space : List.of(host, outside)) {
            ip("netns add " + space);
            closing.step(() -> ip("netns delete " + space));
            ip("-n %s link set lo up".formatted(space));
        }
        ip("-n %s link add uplink type veth peer name eth0 netns %s".formatted(host, outside));
        ip("-n %s addr add 6.6.6.1/24 dev uplink".formatted(host));
        ip("-n %s link set uplink up".formatted(host));
        ip("-n %s addr add %s/24 dev eth0".formatted(outside, ADDRESS));
        ip("-n %s link set eth0 up".formatted(outside));
        for (String address : List.of(OTHER, "1.1.1.1", "8.8.8.8", "10.1.2.3")) {
            ip("-n %s addr add %s/32 dev lo".formatted(outside, address));
            // No default route: the node would look for its link in /sys, which shows the machine's own links.
            ip("-n %s route add %s/32 via %s".formatted(host, address, ADDRESS));
        }
        ip("-n %s route add default via 6.6.6.1".formatted(outside));
        ip("-n %s addr add 2001:db8:66::1/64 dev uplink nodad".formatted(host));
        ip("-n %s addr add %s/64 dev eth0 nodad".formatted(outside, OTHER6));
    }

    private void serve(InputStream servers) throws IOException {
        var own = LocalAuthority.open(directory.resolve("tls"), DOMAIN);
        String known = Files.isReadable(ROOTS) ? Files.readString(ROOTS) : "";
        Files.writeString(roots(), known + Files.readString(own.caCertificate()));
        Files.writeString(
                hosts(),
                Files.readString(HOSTS)
                        + "\n%1$s mcp.%2$s auth.%2$s\n%3$s www.%2$s\n".formatted(OTHER, DOMAIN, ADDRESS));
        var script = directory.resolve("internet.py");
        Files.copy(servers, script);
        var command = List.of("python3", script.toString(), directory.toString(), ADDRESS, OTHER);
        var process = new ProcessBuilder(inside(outside, command))
                .redirectErrorStream(true)
                .start();
        closing.step(() -> process.destroyForcibly().waitFor(LIMIT.toSeconds(), TimeUnit.SECONDS));
        String first = process.inputReader().readLine();
        if (!"READY".equals(first)) {
            throw new IOException("the lab's internet does not start: " + first);
        }
    }

    private Path roots() {
        return directory.resolve("roots.pem");
    }

    private Path hosts() {
        return directory.resolve("hosts");
    }

    /// The namespace of the servers, for `tc`.
    public String outside() {
        return outside;
    }

    /// Starts a class of this program on the host of this internet. It is killed when this is closed.
    ///
    /// @param said takes its output
    public Process java(Class<?> main, Path said, List<String> arguments) throws IOException {
        var command = new ArrayList<>(List.of("unshare", "--mount", "--propagation", "slave", "sh", "-c", ENTER, "sh"));
        command.addAll(List.of(roots().toString(), ROOTS.toString(), hosts().toString(), HOSTS.toString()));
        command.addAll(List.of(
                System.getProperty("java.home") + "/bin/java",
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                System.getProperty("java.class.path")));
        var home = System.getProperty("cay.home");
        if (home != null) {
            command.add("-Dcay.home=" + home);
        }
        command.add(main.getName());
        command.addAll(arguments);
        var process = new ProcessBuilder(inside(host, command))
                .redirectErrorStream(true)
                .redirectOutput(said.toFile())
                .start();
        closing.step(() -> process.destroyForcibly().waitFor(LIMIT.toSeconds(), TimeUnit.SECONDS));
        return process;
    }

    /// A directory that goes with this.
    public Path directory() {
        return directory;
    }

    private static void ip(String words) {
        var command = new ArrayList<>(List.of("ip"));
        command.addAll(List.of(words.split(" ")));
        Programs.ofHost().require(LIMIT, "", command);
    }

    /// Only the network differs: `ip netns exec` would hide control groups.
    private static List<String> inside(String space, List<String> command) {
        var all = new ArrayList<>(List.of("nsenter", "--net=/run/netns/" + space));
        all.addAll(command);
        return all;
    }

    @Override
    public void close() {
        closing.close();
    }
}
