package dev.cay.acceptance;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.sdk.NewSandbox;
import dev.cay.sdk.SandboxException.Kind;
import dev.cay.sdk.VolumeEntry;
import dev.cay.sdk.VolumeInfo;
import dev.cay.testing.NeedsRoot;
import java.io.ByteArrayInputStream;
import java.nio.file.Path;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Volumes by the Java SDK: their files from outside, and the same files in sandboxes.
@NeedsRoot
final class JavaSdkVolumesTest extends SdkTest {
    @TempDir
    @SuppressWarnings("NullAway.Init")
    Path directory;

    @Test
    void filesOfAVolumeAreThoseOfItsSandboxes() throws Exception {
        var volume = cay.createVolume("java-" + System.nanoTime(), 64);
        assertThat(cay.volumes()).contains(new VolumeInfo(volume.id(), volume.name(), 64));
        assertKind(Kind.INVALID, () -> cay.createVolume(volume.name()));
        volume.write("/deep/er/note", "from outside");
        try (var sandbox = cay.create(NewSandbox.usual().withVolume("/data", volume));
                var reader = cay.create(NewSandbox.usual().withReadOnlyVolume("/srv/data", volume))) {
            assertThat(sandbox.files().read("/data/deep/er/note")).isEqualTo("from outside");
            sandbox.files().write("/data/inside", "from inside");
            assertThat(reader.files().read("/srv/data/inside")).isEqualTo("from inside");
            assertThat(reader.commands().run("touch /srv/data/x || true").stderr())
                    .contains("Read-only file system");
            assertKind(Kind.CONFLICT, () -> cay.removeVolume(volume.id()));
        }
        assertThat(cay.volume(volume.id()).read("/inside")).isEqualTo("from inside");
        assertThat(cay.removeVolume(volume.id())).isTrue();
        assertThat(cay.removeVolume(volume.id())).isFalse();
        assertKind(Kind.NOT_FOUND, () -> cay.volume(volume.id()));
    }

    @Test
    void filesGoInAndOut() throws Exception {
        var volume = cay.createVolume("java-" + System.nanoTime());
        byte[] bytes = new byte[5 << 20];
        new Random(7).nextBytes(bytes);
        assertThat(volume.write("/stream", new ByteArrayInputStream(bytes)).size())
                .isEqualTo(bytes.length);
        Path here = directory.resolve("here");
        volume.download("/stream", here);
        volume.upload(here, "/a/back");
        try (var in = volume.open("/a/back")) {
            assertThat(in.readAllBytes()).isEqualTo(bytes);
        }
        assertThat(volume.makeDirectory("/d/e").type()).isEqualTo(VolumeEntry.Type.DIRECTORY);
        assertThat(volume.list("/", 2))
                .extracting(VolumeEntry::path)
                .containsExactly("/a", "/a/back", "/d", "/d/e", "/stream");
        assertThat(volume.list("/")).extracting(VolumeEntry::name).containsExactly("a", "d", "stream");
        var changed = volume.change("/stream", 1000, null, 0600);
        assertThat(changed.uid()).isEqualTo(1000);
        assertThat(changed.mode()).isEqualTo(0600);
        assertThat(volume.info("/stream").gid()).isZero();
        assertThat(volume.exists("/a")).isTrue();
        assertThat(volume.remove("/a")).isTrue();
        assertThat(volume.remove("/a")).isFalse();
        assertThat(volume.exists("/a")).isFalse();
        assertKind(Kind.NOT_FOUND, () -> volume.read("/a/back"));
        assertThat(volume.toString()).doesNotContain("cayvol_");
        cay.removeVolume(volume.id());
    }
}
