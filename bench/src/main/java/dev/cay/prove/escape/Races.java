package dev.cay.prove.escape;

import dev.cay.life.TaskGroup;
import dev.cay.life.Undo;
import dev.cay.platform.RemoteSandbox;
import dev.cay.testing.ProbeFile;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Consumer;

/// Root inside a sandbox exchanges directories, links and pipes, while clients use every call on files there. Some
/// links lead to a directory of the host, some into the disk of a neighbour: neither may be read or changed.
public final class Races {
    private static final int THREADS = 4;
    private static final int SHOWN = 20;
    private static final String UP = "../".repeat(30);

    /// @param calls   how often each was made and did its work
    /// @param leaks   what came from or got to the outside, and what nobody thought of
    /// @param control calls that were not led outside without the node's care, so that they prove nothing
    public record Result(Map<String, String> calls, long made, List<String> leaks, List<String> control) {
        public boolean holds() {
            return leaks.isEmpty() && control.isEmpty();
        }
    }

    private final URI url;
    private final String key;
    private final Path pool;
    private final Consumer<String> say;

    /// @param pool where the daemon keeps sandboxes' disks
    public Races(URI url, String key, Path pool, Consumer<String> say) {
        this.url = url;
        this.key = key;
        this.pool = pool;
        this.say = say;
    }

    public Result run(Duration time) throws Exception {
        try (var undo = new Undo();
                var world = OutsideWorld.make()) {
            var trap = undo.add(new Trap(world.directory().resolve("trap"), world.secret()));
            var neighbour = undo.add(RemoteSandbox.create(url, key));
            neighbour.write("/root/home/f", world.secret().getBytes(java.nio.charset.StandardCharsets.UTF_8));
            neighbour.write("/root/home/canary-" + world.secret(), new byte[0]);
            Path foreign = findInPool("canary-" + world.secret());
            var attacker = undo.add(RemoteSandbox.create(url, key));
            attacker.write(AttackedDaemon.PROGRAM, ProbeFile.bytes());
            attacker.run(List.of("/bin/chmod", "755", AttackedDaemon.PROGRAM));
            var targets = List.of(
                    trap.directory().toString(),
                    UP + trap.directory().toString().substring(1),
                    "/proc/self/root" + trap.directory(),
                    foreign.toString());
            var places = new ArrayList<String>();
            for (String target : targets) {
                String place = "/root/race" + places.size();
                RemoteSandbox.event(undo.add(attacker.start(List.of(AttackedDaemon.PROGRAM, "juggle", place, target))));
                places.add(place);
            }
            var leaks = new ConcurrentLinkedQueue<String>();
            var calls = new RaceCalls(attacker, world.secret(), places, leaks::add);
            race(calls, time);
            leaks.addAll(trap.changes());
            leaks.addAll(strange(foreign, world.secret()));
            answersStill(attacker, leaks);
            say.accept("the same without the node's care");
            return new Result(
                    shown(calls), made(calls), leaks.stream().limit(SHOWN).toList(), control(world));
        }
    }

    private void race(RaceCalls calls, Duration time) throws Exception {
        say.accept("racing for " + time.toSeconds() + " s");
        try (var tasks = new TaskGroup()) {
            for (int i = 0; i < THREADS; i++) {
                tasks.run(() -> calls.run(time.toSeconds()));
            }
            tasks.join(time.plusMinutes(3));
        }
    }

    private Path findInPool(String name) throws IOException {
        try (var files = Files.walk(pool)) {
            return files.filter(file -> file.getFileName().toString().equals(name))
                    .findFirst()
                    .map(Path::getParent)
                    .orElseThrow(() -> new IOException("the neighbour's file is not in " + pool));
        }
    }

    private static List<String> strange(Path home, String secret) throws IOException {
        try (var names = Files.list(home)) {
            var strange = new ArrayList<>(names.map(name -> name.getFileName().toString())
                    .filter(name -> !name.equals("f") && !name.equals("canary-" + secret))
                    .map(name -> "the neighbour has a file " + name)
                    .toList());
            if (!Files.readString(home.resolve("f")).equals(secret)) {
                strange.add("the neighbour's file was changed");
            }
            return strange;
        }
    }

    private static void answersStill(RemoteSandbox sandbox, java.util.Collection<String> leaks)
            throws IOException, InterruptedException {
        sandbox.write("/root/after", new byte[] {'x'});
        if (sandbox.read("/root/after").statusCode() != 200) {
            leaks.add("files are not served any more");
        }
    }

    /// Only a directory and a link change places here: somebody who goes by names would wait at a pipe for ever.
    private List<String> control(OutsideWorld world) throws IOException, InterruptedException {
        Path place = Files.createDirectory(world.directory().resolve("control"));
        try (var trap = new Trap(world.directory().resolve("control-trap"), world.secret());
                var _ = new Partner(List.of(
                        world.program().toString(),
                        "juggle",
                        place.toString(),
                        trap.directory().toString()))) {
            var missed = new ArrayList<>(new NaiveCalls(place, trap, world.secret()).unnoticed());
            if (trap.changes().isEmpty()) {
                missed.add("changes of the trap");
            }
            return missed;
        }
    }

    private static Map<String, String> shown(RaceCalls calls) {
        var shown = new java.util.TreeMap<String, String>();
        calls.tallies()
                .forEach((name, tally) -> shown.put(name, "%d made, %d done".formatted(tally.made(), tally.done())));
        return shown;
    }

    private static long made(RaceCalls calls) {
        return calls.tallies().values().stream()
                .mapToLong(RaceCalls.Tally::made)
                .sum();
    }
}
