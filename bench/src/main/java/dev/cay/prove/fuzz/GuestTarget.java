package dev.cay.prove.fuzz;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.cay.life.Trees;
import dev.cay.life.Undo;
import dev.cay.node.guest.GuestLink;
import dev.cay.node.guest.Spawn;
import dev.cay.node.linux.FdPoller;
import dev.cay.node.linux.HostThreads;
import dev.cay.node.linux.NetNamespace;
import dev.cay.node.process.Launch;
import dev.cay.node.process.Output;
import dev.cay.node.process.ProcessSettings;
import dev.cay.node.process.ProcessTable;
import dev.cay.node.process.Workers;
import dev.cay.platform.RemoteSandbox;
import dev.cay.wire.CayException;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;

/// Both ends of the link between node and guest.
///
/// The node's end is the real one, in this process, with a forged guest at the other end. The guest's end gets messages
/// from root in a sandbox, which it must ignore, and from a program in the place of its node.
final class GuestTarget implements Target {
    /// Time limit of every request on a link: the cost of a guest that does not answer.
    private static final Duration LIMIT = Duration.ofMillis(300);

    /// How long a request, and everything that waits for it, may take on a busy machine.
    private static final Duration ENOUGH = Duration.ofSeconds(20);

    private static final int LIARS = 3;
    private static final List<String> STREAMS = List.of("fed", "fed");

    private record Liar(Player player, NetNamespace network) {}

    private final Undo closing = new Undo();
    private final RemoteSandbox sandbox;
    private final FdPoller poller;
    private final Workers workers;
    private final BlockingQueue<Liar> liars = new ArrayBlockingQueue<>(LIARS);
    private final BlockingQueue<Player> inside = new ArrayBlockingQueue<>(1);
    private final BlockingQueue<StrayGuest> strays = new ArrayBlockingQueue<>(1);
    private final Path scratch;
    private final OwnDescriptors descriptors = new OwnDescriptors();

    /// @param runDir of the daemon that the sandbox is in
    GuestTarget(RemoteSandbox sandbox, Path runDir) throws IOException {
        this.sandbox = sandbox;
        try (var undo = new Undo()) {
            undo.add(closing);
            closing.add(sandbox);
            muffle();
            poller = closing.add(new FdPoller());
            poller.start();
            var logs = closing.add(new HostThreads("fuzz-logs", 2, 1024));
            var guests = closing.add(new HostThreads("fuzz-guests", 2, 1024));
            workers = new Workers(poller, logs, guests, closing.add(new HostThreads("fuzz-terminals", 2, 1024)));
            scratch = Files.createTempDirectory(Path.of("/dev/shm"), "cay-fuzz-");
            closing.step(() -> Trees.delete(scratch));
            Path states = runDir.resolve("runc");
            String root = "/proc/%d/root".formatted(init(states.resolve(sandbox.id())));
            for (int i = 0; i < LIARS; i++) {
                var player = closing.add(new Player(List.of("unshare", "--net", "chroot", root), "lie"));
                liars.add(new Liar(player, closing.add(NetNamespace.open(player.pid(), logs))));
            }
            inside.add(closing.add(
                    new Player(List.of("runc", "--root", states.toString(), "exec", sandbox.id()), "knock")));
            strays.add(closing.add(new StrayGuest(root)));
            undo.keep();
        }
    }

    /// Silences the warnings of the node's end about forged answers.
    private void muffle() {
        var errors = System.err;
        closing.step(() -> System.setErr(errors));
        System.setErr(new PrintStream(OutputStream.nullOutputStream(), false, UTF_8));
    }

    private static long init(Path state) throws IOException {
        return tools.jackson.databind.json.JsonMapper.shared()
                .readTree(Files.readString(state.resolve("state.json")))
                .path("init_process_pid")
                .asLong();
    }

    @Override
    public String name() {
        return "guest";
    }

    @Override
    public Played play(long seed) throws IOException, InterruptedException {
        var dice = new Dice(seed);
        return switch (dice.below(4)) {
            case 0 -> knockInside(dice);
            case 1 -> knockOutside(dice);
            default -> lie(dice);
        };
    }

    private Played knockInside(Dice dice) throws IOException, InterruptedException {
        var turn = new GuestKnocks(dice).next();
        var player = inside.take();
        try {
            player.begin(turn);
            String how = player.end();
            String wrong = how.matches("closed 0|reset .*") ? "" : "the guest answered root inside: " + how;
            return new Played("inside " + word(how), wrong, turn.pieces().getFirst(), how.getBytes(UTF_8));
        } finally {
            inside.add(player);
        }
    }

    private Played knockOutside(Dice dice) throws IOException, InterruptedException {
        var turn = new GuestKnocks(dice).next();
        var stray = strays.take();
        try {
            String how = stray.knock(turn);
            String wrong =
                    how.startsWith("closed") || how.startsWith("reset") ? "" : "the guest did not take it well: " + how;
            return new Played("outside " + word(how), wrong, turn.pieces().getFirst(), how.getBytes(UTF_8));
        } finally {
            strays.add(stray);
        }
    }

    private static String word(String how) {
        return how.split(" ", 2)[0];
    }

    /// Opens a link to a forged guest, and sends the requests of a node.
    private Played lie(Dice dice) throws IOException, InterruptedException {
        var lies = new GuestLies(dice);
        var turns = new ArrayList<Player.Turn>();
        turns.add(lies.hello());
        var conversation = dice.oneIn(2) ? questions(dice, lies, turns) : table(dice, lies, turns);
        var liar = liars.take();
        var said = new ByteArrayOutputStream();
        turns.forEach(turn -> turn.pieces().forEach(said::writeBytes));
        long begun = System.nanoTime();
        String outcome;
        String wrong = "";
        try {
            liar.player().begin(turns);
            try (var link = GuestLink.open(liar.network(), poller, LIMIT)) {
                outcome = "lie " + conversation.hold(link);
            } catch (IOException | CayException e) {
                outcome = "lie refused";
            } catch (RuntimeException e) {
                outcome = "lie broke";
                wrong = "a guest's answer made the node throw " + e;
            }
            liar.player().end();
        } finally {
            liars.add(liar);
        }
        if (System.nanoTime() - begun > ENOUGH.toNanos()) {
            wrong = "the node was held up for more than " + ENOUGH;
        }
        return new Played(outcome, wrong, said.toByteArray(), new byte[0]);
    }

    private interface Conversation {
        String hold(GuestLink link) throws IOException, InterruptedException;
    }

    /// Single requests, as many as the link survives.
    private static Conversation questions(Dice dice, GuestLies lies, List<Player.Turn> turns) {
        var kinds = new ArrayList<Integer>();
        for (int i = dice.between(1, 5); i > 0; i--) {
            int kind = dice.between(GuestBytes.SPAWN, GuestBytes.FORGET);
            kinds.add(kind);
            turns.add(lies.answer(kind, kind <= GuestBytes.ATTACH ? STREAMS : List.of()));
        }
        boolean terminal = dice.oneIn(4);
        return link -> {
            for (int kind : kinds) {
                ask(link, kind, terminal);
            }
            return "believed";
        };
    }

    private static void ask(GuestLink link, int kind, boolean terminal) throws IOException {
        switch (kind) {
            case GuestBytes.SPAWN ->
                link.spawn(new Spawn(
                                List.of("/bin/true"),
                                List.of(),
                                "/",
                                0,
                                0,
                                List.of(),
                                terminal ? 80 : 0,
                                24,
                                false,
                                "1"))
                        .close();
            case GuestBytes.ATTACH -> link.attach(7).close();
            case GuestBytes.SIGNAL -> link.signal(7, 9);
            case GuestBytes.RESIZE -> link.resize(7, 80, 24);
            case GuestBytes.CLOSE_STDIN -> link.closeStdin(7);
            case GuestBytes.LIST -> link.list();
            default -> link.forget(7);
        }
    }

    /// A table of processes on the link, which takes over what it hears of, starts something and follows it.
    private Conversation table(Dice dice, GuestLies lies, List<Player.Turn> turns) throws IOException {
        turns.add(lies.answer(GuestBytes.LIST, List.of()));
        for (int i = dice.below(3); i > 0; i--) {
            turns.add(lies.answer(GuestBytes.ATTACH, STREAMS));
        }
        turns.add(lies.answer(GuestBytes.SPAWN, STREAMS));
        for (int i = dice.below(3); i > 0; i--) {
            turns.add(lies.answer(GuestBytes.FORGET, List.of()));
        }
        var launch = new Launch(
                List.of("/bin/true"), Map.of(), Map.of(), "/", "root", 0, 0, List.of(), null, false, null, null);
        return link -> {
            Path directory = Files.createTempDirectory(scratch, "table-");
            try (var table = new ProcessTable(directory, link, workers, ProcessSettings.DEFAULT)) {
                table.adopt();
                try (var subscription = table.start(launch)) {
                    return follow(subscription);
                }
            } finally {
                clear(directory);
            }
        };
    }

    /// The table's threads may still be at it; what is left goes with all the rest.
    private static void clear(Path directory) throws IOException {
        try {
            Trees.delete(directory);
        } catch (DirectoryNotEmptyException e) {
            // Something came while we looked.
        }
    }

    private static String follow(dev.cay.node.process.Subscription subscription)
            throws IOException, InterruptedException {
        for (int i = 0; i < 100; i++) {
            switch (subscription.next(LIMIT)) {
                case Output.Data _ -> subscription.sent();
                case Output.Silence() -> {
                    return "silent";
                }
                case Output.End _ -> {
                    return "ended";
                }
            }
        }
        return "talkative";
    }

    /// A new stray guest, as the old one keeps what it was told to until its node forgets it.
    @Override
    public String tidy() throws IOException, InterruptedException {
        String said = sandbox.run(List.of("/bin/echo", "still here"));
        if (!said.contains("still here")) {
            return "the sandbox whose root knocked at its guest answers no more";
        }
        var stray = strays.take();
        try {
            return stray.renew();
        } finally {
            strays.add(stray);
        }
    }

    /// What a liar lent must not stay here; files that the machine opens for itself may.
    @Override
    public String settle() throws IOException {
        return descriptors.more();
    }

    @Override
    public void close() {
        closing.close();
    }
}
