package dev.cay.node.sandbox;

import dev.cay.life.Steps;
import dev.cay.wire.SandboxId;
import dev.cay.wire.VolumeId;
import dev.cay.wire.node.Durability;
import dev.cay.wire.node.Keep;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;

/// A daemon that is killed (kill -9) when it reaches a step of a pause, of a resume, or of the deletion of a volume.
final class DoomedPause {
    private DoomedPause() {}

    /// Arguments: directory and instance of the place, `pause`, `freeze`, `resume` or `delete-volume`, the sandbox or
    /// volume, and the step.
    public static void main(String[] args) throws Exception {
        var node = new TestNode(TestNode.Place.reserved(Path.of(args[0]), args[1]));
        Steps.listen(step -> {
            if (step.equals(args[4])) {
                die();
            }
        });
        if (args[2].equals("delete-volume")) {
            node.node.disk().volumes().delete(new VolumeId(args[3]));
            System.exit(1);
        }
        var id = new SandboxId(args[3]);
        switch (args[2]) {
            case "pause" -> node.keepers.pause(id, Keep.MEMORY);
            case "freeze" -> node.keepers.pause(id, Keep.MEMORY, Durability.FROZEN);
            default -> node.keepers.resume(id, true);
        }
        // Some steps are reached after the answer.
        Thread.sleep(Duration.ofSeconds(30));
        System.exit(1);
    }

    private static void die() {
        try {
            new ProcessBuilder(
                            "kill", "-9", Long.toString(ProcessHandle.current().pid()))
                    .start()
                    .waitFor();
            Thread.sleep(Duration.ofSeconds(30));
        } catch (IOException | InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
