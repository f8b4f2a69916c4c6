package dev.cay.prove.escape;

import dev.cay.life.Undo;
import dev.cay.platform.RemoteSandbox;
import dev.cay.testing.ProbeFile;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.DataInputStream;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.regex.Pattern;

/// A daemon with two sandboxes for escape attempts: one attacks, the other is its neighbour.
public final class AttackedDaemon implements AutoCloseable {
    static final String PROGRAM = "/root/cay-probe";
    private static final int NEIGHBOUR_PORT = 8080;

    /// The attempts take longer than the usual life of a sandbox on a busy machine.
    private static final Duration LIFE = Duration.ofHours(1);

    private static final Pattern LOCAL = Pattern.compile("\\|-- (\\d+\\.\\d+\\.\\d+\\.\\d+)\\s+/32 host LOCAL");
    private static final Pattern DEFAULT_ROUTE = Pattern.compile("(?m)^eth0\\s+00000000\\s+([0-9A-F]{8})");

    private final Undo closing = new Undo();
    private final OutsideWorld world;
    private final RemoteSandbox attacker;
    private final RemoteSandbox neighbour;

    /// @param url plain HTTP base of the daemon
    public AttackedDaemon(URI url, String key, OutsideWorld world) throws IOException, InterruptedException {
        this.world = world;
        try {
            attacker = armed(url, key);
            neighbour = armed(url, key);
            awaitServer(closing.add(
                    neighbour.start(List.of(PROGRAM, "serve", Integer.toString(NEIGHBOUR_PORT), "neighbour"))));
        } catch (IOException | InterruptedException | RuntimeException e) {
            closing.close();
            throw e;
        }
    }

    private RemoteSandbox armed(URI url, String key) throws IOException, InterruptedException {
        var sandbox = closing.add(RemoteSandbox.create(url, key, LIFE));
        sandbox.write(PROGRAM, ProbeFile.bytes());
        sandbox.run(List.of("/bin/chmod", "755", PROGRAM));
        return sandbox;
    }

    private static void awaitServer(DataInputStream events) throws IOException {
        String said = "";
        while (!said.contains("serving")) {
            var event = RemoteSandbox.event(events).path("event");
            if (event.has("end")) {
                throw new IOException("the neighbour does not serve");
            }
            said += new String(
                    Base64.getDecoder().decode(event.path("data").path("stdout").asString("")), StandardCharsets.UTF_8);
        }
    }

    RemoteSandbox attacker() {
        return attacker;
    }

    /// Makes all attempts that can be made here, as root, in the order of {@link Probes}.
    public List<Attempt> attack() throws IOException, InterruptedException {
        var command = new ArrayList<>(List.of(PROGRAM));
        command.addAll(world.facts());
        String gateway = gateway();
        command.removeIf(fact -> fact.startsWith("host="));
        command.add(world.facts().stream()
                        .filter(fact -> fact.startsWith("host="))
                        .findFirst()
                        .orElse("host=")
                + ",%s:%d".formatted(gateway, world.port()));
        command.add("sandbox=%s:%d".formatted(address(neighbour), NEIGHBOUR_PORT));
        command.add("forged=%s:%s:53:%s".formatted(address(neighbour), gateway, gateway));
        Probes.inside().forEach(probe -> command.add(probe.name()));
        var attempts = Attempt.parse(attacker.run(command));
        return Probes.inside().stream().map(probe -> of(attempts, probe)).toList();
    }

    private static Attempt of(List<Attempt> attempts, Probe probe) {
        return attempts.stream()
                .filter(attempt -> attempt.probe().equals(probe))
                .findFirst()
                .orElseGet(() -> Attempt.failed(probe, "it said nothing"));
    }

    /// Changes a program of the template as root, and reads it in the neighbour, which has the same layers.
    boolean sharesChanges() throws IOException, InterruptedException {
        attacker.run(List.of(
                "/bin/sh", "-c", "printf '#!/bin/sh\\necho changed\\n' >/usr/bin/true; chmod 4755 /usr/bin/true"));
        boolean changed = attacker.run(List.of("/usr/bin/true")).contains("changed");
        return !changed || neighbour.run(List.of("/usr/bin/true")).contains("changed");
    }

    private String gateway() throws IOException, InterruptedException {
        var route = DEFAULT_ROUTE.matcher(attacker.run(List.of("/bin/cat", "/proc/net/route")));
        if (!route.find()) {
            throw new CayException(ErrorKind.INTERNAL, "the sandbox has no way out at all");
        }
        int address = Integer.reverseBytes(Integer.parseUnsignedInt(route.group(1), 16));
        return "%d.%d.%d.%d".formatted(address >>> 24, address >> 16 & 255, address >> 8 & 255, address & 255);
    }

    /// The one the host knows the sandbox by.
    private static String address(RemoteSandbox sandbox) throws IOException, InterruptedException {
        return LOCAL.matcher(sandbox.run(List.of("/bin/cat", "/proc/net/fib_trie")))
                .results()
                .map(match -> match.group(1))
                .filter(address -> !address.startsWith("127.") && !address.startsWith("169.254."))
                .findFirst()
                .orElseThrow(() -> new CayException(ErrorKind.INTERNAL, "the sandbox has no address"));
    }

    @Override
    public void close() {
        closing.close();
    }
}
