package dev.cay.prove.escape;

import dev.cay.life.Undo;
import dev.cay.platform.RemoteSandbox;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/// A program inside exchanges a directory and a link to a directory of the host as fast as it can, while the node
/// reads, writes, moves and removes there. The host's directory must stay unchanged and unread.
final class FileRaces {
    private static final int ROUNDS = 400;
    private static final int CONTROL_ROUNDS = 100_000;
    private static final String PLACE = "/root/race";

    /// @param inside  how often the directory was met
    /// @param outside how often the link was met, which leads nowhere inside
    record Result(int inside, int outside, List<String> leaks) {}

    private final OutsideWorld world;

    FileRaces(OutsideWorld world) {
        this.world = world;
    }

    Result run(RemoteSandbox sandbox) throws IOException, InterruptedException {
        Path trap = Files.createDirectories(world.directory().resolve("trap"));
        Path bait = Files.writeString(trap.resolve("f"), world.secret());
        sandbox.run(List.of("/bin/mkdir", "-p", PLACE));
        var leaks = new ArrayList<String>();
        int inside = 0;
        int outside = 0;
        try (var swapping = sandbox.start(List.of(AttackedDaemon.PROGRAM, "swap", PLACE, trap.toString()))) {
            RemoteSandbox.event(swapping);
            for (int i = 0; i < ROUNDS; i++) {
                var read = sandbox.read(PLACE + "/a/f");
                if (new String(read.body(), StandardCharsets.UTF_8).contains(world.secret())) {
                    leaks.add("the host's file was read");
                }
                if (read.statusCode() == 200) {
                    inside++;
                } else {
                    outside++;
                }
                disturb(sandbox, i);
            }
        }
        if (!Files.readString(bait).equals(world.secret())) {
            leaks.add("the host's file was changed");
        }
        try (var entries = Files.list(trap)) {
            if (entries.count() != 1) {
                leaks.add("files were made in the host's directory");
            }
        }
        return new Result(inside, outside, leaks);
    }

    private static void disturb(RemoteSandbox sandbox, int round) throws IOException, InterruptedException {
        String fresh = PLACE + "/a/n" + round;
        switch (round % 4) {
            case 0 -> sandbox.tryWrite(fresh, new byte[] {'x'});
            case 1 -> sandbox.tryWrite(PLACE + "/a/f", "inside".getBytes(StandardCharsets.US_ASCII));
            case 2 -> sandbox.fileCall("Move", Map.of("source", PLACE + "/a/n" + (round - 2), "destination", fresh));
            default -> sandbox.fileCall("Remove", Map.of("path", PLACE + "/a/n" + (round - 1)));
        }
    }

    /// The same race against code that uses paths: it reads the host's file.
    boolean control() throws IOException {
        try (var undo = new Undo()) {
            Path trap = Files.createDirectories(world.directory().resolve("trap"));
            Files.writeString(trap.resolve("f"), world.secret());
            Path place = Files.createTempDirectory(world.directory(), "race-");
            undo.add(new Partner(List.of(world.program().toString(), "swap", place.toString(), trap.toString())));
            for (int i = 0; i < CONTROL_ROUNDS; i++) {
                try {
                    if (Files.readString(place.resolve("a/f")).contains(world.secret())) {
                        return true;
                    }
                } catch (IOException _) {
                    // Between the two.
                }
            }
            return false;
        }
    }
}
