package dev.cay.node.sandbox;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.cay.testing.Await;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.SandboxId;
import dev.cay.wire.TeamId;
import dev.cay.wire.VolumeId;
import dev.cay.wire.node.Keep;
import dev.cay.wire.node.NodeVolumes;
import dev.cay.wire.node.SandboxSpec;
import dev.cay.wire.node.VolumeContent.Rights;
import dev.cay.wire.node.VolumeMount;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;

/// Volumes of a node, their files, and sandboxes that have them.
abstract class VolumeLab extends NodeTest {
    static final TeamId OWNER = new TeamId("team");

    static final Rights USUAL = new Rights(null, null, null);

    static final SandboxId ONE = new SandboxId("one");

    NodeVolumes volumes() {
        return node.node.disk().volumes();
    }

    VolumeId volume(int megabytes) {
        var id = VolumeId.random();
        volumes().create(id, (long) megabytes << 20);
        return id;
    }

    static SandboxSpec mounting(String id, VolumeMount... mounts) {
        return TestNode.spec(id).withVolumes(List.of(mounts));
    }

    static VolumeMount at(VolumeId volume, String path) {
        return new VolumeMount(volume, path, false);
    }

    void put(VolumeId volume, String path, String text) throws IOException {
        volumes().content(volume, OWNER).write(path, USUAL, true, new ByteArrayInputStream(text.getBytes(UTF_8)));
    }

    String text(VolumeId volume, String path) throws IOException {
        try (var file = volumes().content(volume, OWNER).read(path)) {
            return new String(file.stream().readAllBytes(), UTF_8);
        }
    }

    static void assertKind(ErrorKind kind, String text, ThrowingCallable call) {
        assertThatThrownBy(call).isInstanceOfSatisfying(CayException.class, e -> {
            assertThat(e.userMessage()).contains(text);
            assertThat(e.kind()).as(e.toString()).isEqualTo(kind);
        });
    }

    /// Only what CRIU brings back tests anything; a frozen original would be thawed.
    void pauseForGood() throws Exception {
        node.keepers.pause(ONE, Keep.MEMORY);
        Await.until("the container is gone", () -> node.runc.find(ONE).isEmpty());
    }

    Path place(VolumeId volume) {
        return node.host.pool().volumes().place(volume);
    }
}
