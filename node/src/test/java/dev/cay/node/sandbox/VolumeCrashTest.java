package dev.cay.node.sandbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.node.process.DoomedProgram;
import dev.cay.testing.NeedsRoot;
import dev.cay.wire.SandboxId;
import dev.cay.wire.VolumeId;
import dev.cay.wire.node.Keep;
import dev.cay.wire.node.VolumeMount;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// The daemon is killed at each step of a pause and of a resume of a sandbox that writes to a volume.
@NeedsRoot
@Timeout(900)
class VolumeCrashTest extends NodeTest {
    private static final SandboxId ID = new SandboxId("writer");
    private static final List<String> PAUSE = List.of(
            "closed",
            "frozen",
            "memory-saved",
            "disk-saved",
            "commands-saved",
            "saved",
            "paused",
            "synced",
            "original-ended");
    private static final List<String> FREEZE = List.of(
            "closed",
            "noted-frozen",
            "frozen",
            "memory-saved",
            "disk-saved",
            "commands-saved",
            "saved",
            "unsynced",
            "synced",
            "paused",
            "original-ended");
    private static final List<String> RESUME =
            List.of("slot-taken", "disk-brought", "commands-brought", "brought", "opened", "running");
    private static final int KILLED = 128 + 9;

    /// Counts in memory, and writes each number once: a process that went on twice, or from an older state, would
    /// leave a number twice, and one that was lost would leave none.
    private static final String COUNT =
            "exec 3>>/data/numbers; i=0; while :; do i=$((i+1)); echo $i >&3; sleep 0.02; done";

    private Path numbers;

    private int written() throws Exception {
        return Files.readAllLines(numbers).size();
    }

    private void assertGoesOn(String when) throws Exception {
        int now = written();
        await(() -> written() > now);
        assertThat(Files.readAllLines(numbers).stream().map(Integer::valueOf))
                .as(when)
                .containsExactlyElementsOf(
                        IntStream.rangeClosed(1, written()).boxed().toList());
    }

    private void strike(String operation, String step) throws Exception {
        node.close();
        var daemon = DoomedProgram.start(
                DoomedPause.class, place.directory().toString(), place.instance(), operation, ID.value(), step);
        try {
            assertThat(daemon.waitFor(2, TimeUnit.MINUTES)).isTrue();
            assertThat(daemon.exitValue()).as("%s reaches %s", operation, step).isEqualTo(KILLED);
        } finally {
            daemon.destroyForcibly();
        }
        node = new TestNode(place);
        assertThat(node.keepers.find(ID))
                .as("after a kill at %s of a %s", step, operation)
                .isPresent();
        if (node.keepers.find(ID).orElseThrow().saved() != null) {
            node.keepers.resume(ID, true);
        }
        assertGoesOn("after a kill at %s of a %s".formatted(step, operation));
    }

    @Test
    void nothingIsLostAndItGoesOn() throws Exception {
        var volume = VolumeId.random();
        node.node.disk().volumes().create(volume, 64 << 20);
        numbers = node.host.pool().volumes().place(volume).resolve("numbers");
        node.keepers.create(TestNode.spec(ID.value()).withVolumes(List.of(new VolumeMount(volume, "/data", false))));
        TestNode.event(node.start(ID.value(), COUNT));
        await(() -> Files.exists(numbers) && written() > 3);
        for (String step : PAUSE) {
            strike("pause", step);
        }
        for (String step : FREEZE) {
            strike("freeze", step);
        }
        for (String step : RESUME) {
            node.keepers.pause(ID, Keep.MEMORY);
            await(() -> node.runc.find(ID).isEmpty());
            strike("resume", step);
        }
        assertThat(node.node.disk().volumes().list()).containsExactly(volume);
    }
}
