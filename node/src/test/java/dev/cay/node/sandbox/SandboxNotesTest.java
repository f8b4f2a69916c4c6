package dev.cay.node.sandbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.cay.testing.Fast;
import dev.cay.wire.CayException;
import dev.cay.wire.SandboxId;
import dev.cay.wire.VolumeId;
import dev.cay.wire.node.Saved;
import dev.cay.wire.node.VolumeMount;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Fast
final class SandboxNotesTest {
    /// As the first Cay wrote them. Never to be changed: whoever adds a field must be able to read these.
    private static final String FIRST = """
            {"spec":{"id":{"value":"old"},"templateId":"t","layers":["base"],
             "resources":{"cpuCount":2,"memoryMB":512,"diskSizeMB":1024},"environment":{"A":"b"},
             "defaultUser":"user","internetAccess":true},
             "slot":7,"startedAt":"2026-09-21T10:00:00Z","ready":true}
            """;

    @TempDir
    private Path records;

    @Test
    void readsWhatTheFirstCayWrote() throws IOException {
        write("old", FIRST);
        var notes = SandboxNotes.read(records, new SandboxId("old")).orElseThrow();
        assertThat(notes.slot()).isEqualTo(7);
        assertThat(notes.ready()).isTrue();
        assertThat(notes.version()).isZero();
        assertThat(notes.spec().environment()).containsEntry("A", "b");
        SandboxNotes.requireKnown(records);
    }

    @Test
    void refusesThoseOfANewerCayAndLeavesThemAlone() throws IOException {
        String newer = FIRST.replace("\"slot\":7", "\"version\":9,\"slot\":{\"somewhere\":7}");
        write("old", newer);
        assertThatThrownBy(() -> SandboxNotes.requireKnown(records))
                .isInstanceOf(CayException.class)
                .hasMessageContaining(
                        "sandbox old was made by a newer Cay, whose notes have version 9; this Cay knows up to 4")
                .hasMessageNotContaining("\n");
        assertThat(records.resolve("old/sandbox.json")).hasContent(newer);
    }

    /// An older Cay would resume a sandbox without its volumes, and must not; all others it can take up.
    @Test
    void onlySandboxesWithVolumesNeedACayThatKnowsThem() {
        var plain = TestNode.spec("plain");
        var volume = new VolumeMount(VolumeId.random(), "/data", true);
        var notes = new SandboxNotes(plain.withVolumes(List.of(volume)), 3, Instant.EPOCH, true, false);
        assertThat(notes.nextGeneration().version()).isEqualTo(3);
        assertThat(new SandboxNotes(plain, 3, Instant.EPOCH, true, false).version())
                .isEqualTo(2);
        notes.write(records);
        assertThat(SandboxNotes.read(records, plain.id()).orElseThrow().spec().volumes())
                .containsExactly(volume);
    }

    /// An older Cay would take one that is frozen and not saved for broken; all other phases it knows.
    @Test
    void onlyFrozenSandboxesNeedACayThatKnowsThePhase() {
        var running = new SandboxNotes(TestNode.spec("plain"), 3, Instant.EPOCH, true, false);
        var frozen = running.nextGeneration().frozen(Saved.notYet("no room"));
        assertThat(frozen.version()).isEqualTo(4);
        assertThat(frozen.at(5).version()).isEqualTo(4);
        assertThat(frozen.paused(Saved.WHOLE).version()).isEqualTo(2);
        assertThat(frozen.running(Instant.EPOCH).version()).isEqualTo(2);
        frozen.write(records);
        assertThat(SandboxNotes.read(records, frozen.spec().id())).contains(frozen);
    }

    @Test
    void readsWhatTheCayBeforeWroteOfAPausedOne() throws IOException {
        write(
                "old",
                FIRST.replace(
                        "\"slot\":7",
                        "\"version\":2,\"slot\":7,\"phase\":\"PAUSED\",\"generation\":1,\"saved\":{\"memory\":true}"));
        var notes = SandboxNotes.read(records, new SandboxId("old")).orElseThrow();
        assertThat(notes.saved()).isEqualTo(Saved.WHOLE);
        assertThat(notes.isSaved()).isTrue();
        assertThat(notes.isFrozen()).isFalse();
    }

    @Test
    void nonsenseIsNoReasonNotToStart() throws IOException {
        write("old", "{ nonsense");
        SandboxNotes.requireKnown(records);
        assertThat(SandboxNotes.read(records, new SandboxId("old"))).isEmpty();
    }

    @Test
    void whatCannotBeReadNowIsNotGivenUp() throws IOException {
        Files.createDirectories(records.resolve("old/sandbox.json"));
        assertThatThrownBy(() -> SandboxNotes.read(records, new SandboxId("old")))
                .isInstanceOf(CayException.class)
                .hasMessageContaining("nothing was changed");
        assertThatThrownBy(() -> SandboxNotes.requireKnown(records)).isInstanceOf(CayException.class);
    }

    private void write(String id, String text) throws IOException {
        Files.writeString(Files.createDirectory(records.resolve(id)).resolve("sandbox.json"), text);
    }
}
