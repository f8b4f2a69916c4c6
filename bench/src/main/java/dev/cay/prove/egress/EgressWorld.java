package dev.cay.prove.egress;

import dev.cay.life.Undo;
import dev.cay.node.host.HostLedger;
import dev.cay.node.host.Programs;
import dev.cay.node.host.Reservation;
import dev.cay.tls.LocalAuthority;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/// A host in a network namespace, and an internet behind it that owns all addresses of the proof, those of well
/// known name servers too. No packet leaves the machine.
public final class EgressWorld implements AutoCloseable {
    private static final Duration LIMIT = Duration.ofSeconds(30);
    private static final Duration SIEGE = Duration.ofMinutes(30);
    private static final String ALLOWED = "6.6.6.2";
    private static final String EVIL = "6.6.6.3";

    private final Undo closing = new Undo();
    private final Path directory;
    private final String host;

    public EgressWorld() throws IOException {
        this.directory = Files.createTempDirectory("cay-egress-proof-");
        closing.step(() -> Programs.ofHost().require(LIMIT, "rm", "-r", directory.toString()));
        try {
            Reservation place = HostLedger.ofHost().reserve(directory, 24);
            closing.step(() -> HostLedger.ofHost().release(place));
            this.host = "cay" + place.instance() + "-eh";
            build("cay" + place.instance() + "-en");
        } catch (IOException | RuntimeException e) {
            closing.close();
            throw e;
        }
    }

    private void build(String internet) throws IOException {
        for (String space : List.of(host, internet)) {
            ip("netns add " + space);
            closing.step(() -> ip("netns delete " + space));
            ip("-n %s link set lo up".formatted(space));
        }
        ip("-n %s link add uplink type veth peer name eth0 netns %s".formatted(host, internet));
        ip("-n %s addr add 6.6.6.1/24 dev uplink".formatted(host));
        ip("-n %s link set uplink up".formatted(host));
        ip("-n %s addr add %s/24 dev eth0".formatted(internet, ALLOWED));
        ip("-n %s link set eth0 up".formatted(internet));
        for (String address : List.of(EVIL, "1.1.1.1", "8.8.8.8", "10.1.2.3")) {
            ip("-n %s addr add %s/32 dev lo".formatted(internet, address));
            // No default route: the node would look for its link in /sys, which shows the machine's own links.
            ip("-n %s route add %s/32 via %s".formatted(host, address, ALLOWED));
        }
        ip("-n %s route add default via 6.6.6.1".formatted(internet));
        LocalAuthority.open(directory.resolve("tls"), "allowed.test");
        var script = directory.resolve("internet.py");
        try (var in = Objects.requireNonNull(EgressWorld.class.getResourceAsStream("internet.py"))) {
            Files.copy(in, script);
        }
        var process = new ProcessBuilder(
                        inside(internet, List.of("python3", script.toString(), directory.toString(), ALLOWED, EVIL)))
                .redirectErrorStream(true)
                .start();
        closing.step(() -> process.destroyForcibly().waitFor(LIMIT.toSeconds(), TimeUnit.SECONDS));
        String first = process.inputReader().readLine();
        if (!"READY".equals(first)) {
            throw new IOException("the lab's internet does not start: " + first);
        }
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

    /// Lets a sandbox on this host try all ways.
    ///
    /// @return rows for the table, with whether each is as it must be
    public List<Row> lay(Consumer<String> say) throws IOException, InterruptedException {
        var java = new ArrayList<>(List.of(
                System.getProperty("java.home") + "/bin/java",
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                System.getProperty("java.class.path")));
        var home = System.getProperty("cay.home");
        if (home != null) {
            java.add("-Dcay.home=" + home);
        }
        java.add(EgressSiege.class.getName());
        var said = directory.resolve("siege.log");
        var process = new ProcessBuilder(inside(host, java))
                .redirectErrorStream(true)
                .redirectOutput(said.toFile())
                .start();
        closing.step(() -> process.destroyForcibly().waitFor(LIMIT.toSeconds(), TimeUnit.SECONDS));
        if (!process.waitFor(SIEGE.toSeconds(), TimeUnit.SECONDS) || process.exitValue() != 0) {
            throw new IOException("the siege broke off:\n" + tail(said));
        }
        var rows = rows(Files.readAllLines(said, StandardCharsets.UTF_8));
        rows.forEach(row -> say.accept(row.line()));
        return rows;
    }

    private static String tail(Path file) throws IOException {
        String all = Files.readString(file);
        return all.substring(Math.max(0, all.length() - 3000));
    }

    static List<Row> rows(List<String> lines) {
        var heard = new HashMap<Integer, List<String>>();
        var rows = new ArrayList<Row>();
        for (String line : lines) {
            String[] words = line.split(" ", 3);
            if (words[0].equals("control")) {
                rows.add(new Row("an allowed host", line.contains("REACHED"), "-", line.substring(8), "-"));
            } else if (words[0].equals("way") && words.length == 3) {
                heard.computeIfAbsent(Integer.parseInt(words[1]), _ -> new ArrayList<>())
                        .add(words[2]);
            }
        }
        for (int i = 0; i < Way.ALL.size(); i++) {
            rows.add(row(Way.ALL.get(i), heard));
        }
        return List.copyOf(rows);
    }

    private static Row row(Way way, Map<Integer, List<String>> heard) {
        var said = heard.getOrDefault(Way.ALL.indexOf(way), List.of("not tried", "not tried", "not tried"));
        var reached = said.stream().map(text -> text.startsWith("REACHED")).toList();
        boolean holds = switch (way.expected()) {
            case REFUSED -> reached.equals(List.of(true, false, false));
            case INSPECTED -> reached.equals(List.of(true, true, false));
            case NEVER -> reached.equals(List.of(false, false, false)) && !said.contains("not tried");
        };
        return new Row(way.title(), holds, said.get(0), said.get(1), said.get(2));
    }

    /// A row of the table.
    ///
    /// @param open what came of it without rules
    public record Row(String title, boolean holds, String open, String ruled, String inspected) {
        /// In Markdown.
        public String line() {
            return "| %s | %s | %s | %s | %s |".formatted(title, open, ruled, inspected, holds ? "holds" : "**fails**");
        }
    }

    @Override
    public void close() {
        closing.close();
    }
}
