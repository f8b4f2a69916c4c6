package dev.cay.node.network;

import dev.cay.life.Undo;
import dev.cay.node.host.HostLedger;
import dev.cay.node.host.HostPlan;
import dev.cay.node.host.Programs;
import dev.cay.node.host.Reservation;
import dev.cay.node.host.Slot;
import dev.cay.testing.OwnJava;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.file.Files;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/// A small world of network namespaces: a host, the internet behind it, somebody else's network, sandboxes.
///
/// The internet also has addresses that are private on purpose and knows the way back to everybody, so that only
/// the firewall keeps a sandbox from reaching them.
final class NetworkLab implements AutoCloseable {
    static final String PUBLIC = "6.6.6.2";
    static final String HOST_PUBLIC = "6.6.6.1";
    static final String THIRD_HOST_SIDE = "172.30.0.1";
    static final List<String> PRIVATE =
            List.of("192.168.77.7", "169.254.169.254", "100.64.0.9", "10.1.2.3", "172.20.0.5");

    /// Addresses that everybody knows and that are owned by a namespace here.
    static final List<String> RESOLVERS = List.of("1.1.1.1", "8.8.8.8");

    private static final Duration LIMIT = Duration.ofSeconds(90);

    private static final String SERVER = """
            import socket, sys, threading
            def tcp(port):
                s = socket.socket(); s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                s.bind(('0.0.0.0', port)); s.listen(); return s
            def udp(port):
                s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.bind(('0.0.0.0', port)); return s
            def serve(c, peer):
                c.sendall((peer[0] + '\\n').encode())
                while True:
                    data = c.recv(100)
                    if not data: return
                    c.sendall(data)
            def accept(s):
                while True:
                    threading.Thread(target=serve, args=s.accept(), daemon=True).start()
            def echo(s):
                while True:
                    data, peer = s.recvfrom(100)
                    print('udp', data.decode(), flush=True)
                    s.sendto(peer[0].encode(), peer)
            for port in map(int, sys.argv[1:]):
                threading.Thread(target=accept, args=(tcp(port),), daemon=True).start()
                threading.Thread(target=echo, args=(udp(port),), daemon=True).start()
            print('READY', flush=True)
            sys.stdin.read()
            """;

    /// Prints the first line of the answer, or `error: ...`; then echoes what it is told until its input ends.
    private static final String CLIENT = """
            import socket, sys
            kind, host, port, text, source = sys.argv[1:6]
            def attempt(action):
                try: print(action(), flush=True)
                except OSError as e: print('error: %s' % e, flush=True)
            s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM if kind == 'udp' else socket.SOCK_STREAM)
            s.settimeout(1)
            if source: s.bind((source, 0))
            def first():
                s.connect((host, int(port)))
                if kind == 'udp': s.send(text.encode())
                return s.recv(100).decode().strip()
            attempt(first)
            for line in sys.stdin:
                def again():
                    s.sendall(line.encode())
                    return s.recv(100).decode().strip()
                attempt(again)
            """;

    /// A program in a namespace that talks in lines.
    static final class Talker implements AutoCloseable {
        private final Process process;
        private final BlockingQueue<String> lines = new LinkedBlockingQueue<>();

        private Talker(List<String> command) throws IOException {
            process = new ProcessBuilder(command).redirectErrorStream(true).start();
            Thread.ofPlatform().daemon().start(() -> read(process.inputReader()));
        }

        String line() throws InterruptedException {
            String line = lines.poll(LIMIT.toSeconds(), TimeUnit.SECONDS);
            return line == null ? "error: said nothing" : line;
        }

        /// Everything said up to a line that begins so.
        List<String> until(String start) throws InterruptedException {
            var said = new ArrayList<String>();
            do {
                said.add(line());
            } while (!said.getLast().startsWith(start) && !said.getLast().startsWith("error"));
            return said;
        }

        String say(String line) throws IOException, InterruptedException {
            Writer in = process.outputWriter();
            in.write(line + "\n");
            in.flush();
            return line();
        }

        private void read(BufferedReader out) {
            try {
                out.lines().forEach(lines::add);
            } catch (UncheckedIOException _) {
                // It was closed while we listened.
            }
        }

        @Override
        public void close() {
            process.descendants().forEach(ProcessHandle::destroyForcibly);
            process.destroyForcibly()
                    .onExit()
                    .orTimeout(LIMIT.toSeconds(), TimeUnit.SECONDS)
                    .join();
        }
    }

    private final Undo undo = new Undo();
    private final Reservation place = reserve();
    private final String name = "cay" + place.instance();
    final HostPlan plan = new HostPlan(place.instance(), 1_000_000, "10.99.0.0/16");
    final String host = namespace("host");
    final String internet = namespace("net");
    final String third = namespace("third");
    final Programs onHost = new Programs(List.of("ip", "netns", "exec", host));

    NetworkLab() {
        link(host, "uplink", HOST_PUBLIC + "/24", internet, "eth0", PUBLIC + "/24");
        link(host, "lan", THIRD_HOST_SIDE + "/24", third, "eth0", "172.30.0.2/24");
        in(host, "ip route add default via " + PUBLIC);
        in(host, "sysctl -qw net.ipv4.ip_forward=1");
        in(third, "ip route add default via " + THIRD_HOST_SIDE);
        in(internet, "ip route add default via " + HOST_PUBLIC);
        PRIVATE.forEach(address -> in(internet, "ip address add " + address + "/32 dev lo"));
        RESOLVERS.forEach(address -> in(internet, "ip address add " + address + "/32 dev lo"));
        in(host, "ip address add " + plan.gateway() + "/32 dev lo scope link");
    }

    /// A sandbox's link as the hook makes it.
    String sandbox(Slot slot) {
        String space = namespace("s" + slot.index());
        in(host, "ip link add %s type veth peer name eth0 netns %s".formatted(slot.veth(), space));
        in(host, "ip address add %s/32 dev %s".formatted(slot.gateway(), slot.veth()));
        in(host, "ip link set %s up".formatted(slot.veth()));
        in(host, "ip route add %s/32 dev %s".formatted(slot.address(), slot.veth()));
        in(space, "ip link set lo up");
        in(space, "ip address add %s/32 dev lo".formatted(Slot.INNER_ADDRESS));
        in(space, "ip address add %s/32 dev eth0".formatted(slot.address()));
        in(space, "ip link set eth0 up");
        in(space, "ip route add %s dev eth0 scope link".formatted(slot.gateway()));
        in(space, "ip route add default via %s src %s".formatted(slot.gateway(), Slot.INNER_ADDRESS));
        in(space, "nft add table ip n");
        in(space, "nft add chain ip n post { type nat hook postrouting priority 100 ; }");
        in(space, "nft add rule ip n post oifname eth0 snat to " + slot.address());
        return space;
    }

    Talker serve(String space, int... ports) throws IOException, InterruptedException {
        var command = new ArrayList<>(List.of("ip", "netns", "exec", space, "python3", "-c", SERVER));
        Arrays.stream(ports).mapToObj(Integer::toString).forEach(command::add);
        var talker = undo.add(new Talker(command));
        String ready = talker.line();
        if (!ready.equals("READY")) {
            throw new IOException(ready);
        }
        return talker;
    }

    String tcp(String space, String address, int port) throws IOException, InterruptedException {
        try (var talker = open(space, "tcp", address, port, "", "")) {
            return talker.line();
        }
    }

    String udp(String space, String address, int port, String text, String source)
            throws IOException, InterruptedException {
        try (var talker = open(space, "udp", address, port, text, source)) {
            return talker.line();
        }
    }

    Talker open(String space, String kind, String address, int port, String text, String source) throws IOException {
        return new Talker(
                List.of("ip", "netns", "exec", space, "python3", "-c", CLIENT, kind, address, "" + port, text, source));
    }

    /// Runs a program in a namespace.
    Talker run(String space, List<String> command) throws IOException {
        var all = new ArrayList<>(List.of("ip", "netns", "exec", space));
        all.addAll(command);
        return new Talker(all);
    }

    /// Runs a class with our class path on the fake host.
    Talker java(Class<?> main, String... arguments) throws IOException {
        var command = new ArrayList<>(List.of("ip", "netns", "exec", host));
        command.addAll(OwnJava.command(main, arguments));
        return new Talker(command);
    }

    String in(String space, String command) {
        return new Programs(List.of("ip", "netns", "exec", space)).require(LIMIT, command.split(" "));
    }

    /// All rules of the fake host that are not ours, without counters.
    String foreignRules() {
        var tables = in(host, "nft list tables").lines().filter(table -> !table.contains(plan.firewallTable()));
        return tables.map(table -> in(host, "nft -s list " + table)).reduce("", String::concat);
    }

    @Override
    public void close() {
        undo.close();
    }

    /// For the names; addresses and users of a namespace are nobody else's anyway.
    private Reservation reserve() {
        try {
            var directory = Files.createTempDirectory("cay-lab-");
            var made = HostLedger.ofHost().reserve(directory, 24);
            undo.step(() -> {
                HostLedger.ofHost().release(made);
                Programs.ofHost().require(LIMIT, "rm", "-r", directory.toString());
            });
            return made;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private String namespace(String part) {
        String space = name + "-" + part;
        Programs.ofHost().require(LIMIT, "ip", "netns", "add", space);
        undo.step(() -> Programs.ofHost().require(LIMIT, "ip", "netns", "delete", space));
        in(space, "ip link set lo up");
        return space;
    }

    private void link(String one, String oneName, String oneAddress, String two, String twoName, String twoAddress) {
        in(one, "ip link add %s type veth peer name %s netns %s".formatted(oneName, twoName, two));
        in(one, "ip address add %s dev %s".formatted(oneAddress, oneName));
        in(two, "ip address add %s dev %s".formatted(twoAddress, twoName));
        in(one, "ip link set %s up".formatted(oneName));
        in(two, "ip link set %s up".formatted(twoName));
    }
}
