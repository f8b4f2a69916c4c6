package dev.cay.contract;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.TeamId;
import dev.cay.wire.VolumeId;
import dev.cay.wire.node.NodeVolumes;
import dev.cay.wire.node.VolumeContent;
import dev.cay.wire.node.VolumeContent.Rights;
import dev.cay.wire.node.VolumeEntry;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

/// What the volumes of every node do. Tests may share them: each makes volumes of its own.
public interface VolumesContract {
    Rights USUAL = new Rights(null, null, null);
    TeamId OWNER = new TeamId("team");

    NodeVolumes volumes();

    private VolumeContent fresh() {
        var id = VolumeId.random();
        volumes().create(id, 64L << 20);
        return volumes().content(id, OWNER);
    }

    private static VolumeEntry put(VolumeContent content, String path, String text, boolean force) throws IOException {
        return content.write(path, USUAL, force, new ByteArrayInputStream(text.getBytes(UTF_8)));
    }

    private static String text(VolumeContent content, String path) throws IOException {
        try (var file = content.read(path)) {
            byte[] bytes = file.stream().readAllBytes();
            assertThat(file.size()).isEqualTo(bytes.length);
            return new String(bytes, UTF_8);
        }
    }

    private static void assertKind(ErrorKind kind, ThrowingCallable call) {
        assertThatThrownBy(call)
                .isInstanceOfSatisfying(
                        CayException.class,
                        e -> assertThat(e.kind()).as(e.toString()).isEqualTo(kind));
    }

    @Test
    default void aVolumeIsThereFromItsMakingToItsDeletion() {
        var id = VolumeId.random();
        assertKind(ErrorKind.NOT_FOUND, () -> volumes().content(id, OWNER));

        volumes().create(id, 1 << 20);
        volumes().create(id, 2 << 20);

        assertThat(volumes().list()).contains(id);
        assertThat(volumes().content(id, OWNER).list("/", 1)).isEmpty();
        assertThat(volumes().content(id, OWNER).stat("/").mode()).isEqualTo(0777);

        volumes().delete(id);
        volumes().delete(id);

        assertThat(volumes().list()).doesNotContain(id);
        assertKind(ErrorKind.NOT_FOUND, () -> volumes().content(id, OWNER));
    }

    @Test
    default void aFileIsReadAsItWasWritten() throws IOException {
        var content = fresh();
        var written = put(content, "/a.txt", "hello", false);

        assertThat(written.type()).isEqualTo(VolumeEntry.Type.FILE);
        assertThat(written.name()).isEqualTo("a.txt");
        assertThat(written.path()).isEqualTo("/a.txt");
        assertThat(written.size()).isEqualTo(5);
        assertThat(written.mode()).isEqualTo(0644);
        assertThat(written.uid()).isZero();
        assertThat(content.stat("/a.txt")).isEqualTo(written);
        assertThat(text(content, "/a.txt")).isEqualTo("hello");
    }

    @Test
    default void aFileIsWrittenOverOnlyByForce() throws IOException {
        var content = fresh();
        put(content, "/a", "a longer first", false);

        assertKind(ErrorKind.ALREADY_EXISTS, () -> put(content, "/a", "second", false));
        assertThat(text(content, "/a")).isEqualTo("a longer first");

        put(content, "/a", "third", true);
        assertThat(text(content, "/a")).isEqualTo("third");
    }

    @Test
    default void parentsAreMadeOnlyByForce() throws IOException {
        var content = fresh();
        assertKind(ErrorKind.NOT_FOUND, () -> put(content, "/x/y/a", "text", false));
        assertKind(ErrorKind.NOT_FOUND, () -> content.makeDirectory("/x/y", USUAL, false));
        assertThat(content.list("/", 9)).isEmpty();

        put(content, "/x/y/a", "text", true);
        content.makeDirectory("/p/q", USUAL, true);

        assertThat(content.list("/", 9))
                .extracting(VolumeEntry::path)
                .containsExactly("/p", "/p/q", "/x", "/x/y", "/x/y/a");
        assertThat(content.list("/", 1)).extracting(VolumeEntry::path).containsExactly("/p", "/x");
        assertThat(content.list("/x", 1)).extracting(VolumeEntry::path).containsExactly("/x/y");
    }

    @Test
    default void aDirectoryIsTakenForMadeOnlyByForce() throws IOException {
        var content = fresh();
        assertThat(content.makeDirectory("/d", USUAL, false).mode()).isEqualTo(0755);
        put(content, "/f", "text", false);

        assertKind(ErrorKind.ALREADY_EXISTS, () -> content.makeDirectory("/d", USUAL, false));
        assertKind(ErrorKind.ALREADY_EXISTS, () -> content.makeDirectory("/f", USUAL, true));
        assertThat(content.makeDirectory("/d", USUAL, true).type()).isEqualTo(VolumeEntry.Type.DIRECTORY);
    }

    @Test
    default void rightsAreAsTheCallerSays() throws IOException {
        var content = fresh();
        var rights = new Rights(1000, 1001, 0600);
        var file = content.write("/f", rights, false, new ByteArrayInputStream(new byte[3]));
        var directory = content.makeDirectory("/d", new Rights(1000, 1001, 0700), false);

        assertThat(file.uid()).isEqualTo(1000);
        assertThat(file.gid()).isEqualTo(1001);
        assertThat(file.mode()).isEqualTo(0600);
        assertThat(directory.mode()).isEqualTo(0700);
        assertThat(directory.uid()).isEqualTo(1000);

        var changed = content.change("/f", new Rights(5, null, null));
        assertThat(changed.uid()).isEqualTo(5);
        assertThat(changed.gid()).isEqualTo(1001);
        assertThat(changed.mode()).isEqualTo(0600);
        assertThat(content.change("/f", new Rights(null, null, 0640)).mode()).isEqualTo(0640);
        // What is written over stays as it is.
        assertThat(put(content, "/f", "other", true).mode()).isEqualTo(0640);
        assertThat(content.stat("/f").uid()).isEqualTo(5);
    }

    @Test
    default void whatIsRemovedIsGoneWithAllBelow() throws IOException {
        var content = fresh();
        put(content, "/x/y/a", "text", true);

        content.remove("/x");

        assertThat(content.list("/", 9)).isEmpty();
        assertKind(ErrorKind.NOT_FOUND, () -> content.remove("/x"));
        assertKind(ErrorKind.NOT_FOUND, () -> content.stat("/x"));
        assertKind(ErrorKind.NOT_FOUND, () -> content.read("/x"));
        assertKind(ErrorKind.NOT_FOUND, () -> content.list("/x", 1));
        assertKind(ErrorKind.NOT_FOUND, () -> content.change("/x", USUAL));
    }

    @Test
    default void filesAndDirectoriesAreNotTakenForEachOther() throws IOException {
        var content = fresh();
        put(content, "/f", "text", false);
        content.makeDirectory("/d", USUAL, false);

        assertKind(ErrorKind.INVALID_ARGUMENT, () -> content.read("/d"));
        assertKind(ErrorKind.INVALID_ARGUMENT, () -> content.list("/f", 1));
    }

    @Test
    default void volumesKnowNothingOfEachOther() throws IOException {
        var one = fresh();
        var two = fresh();
        put(one, "/mine", "text", false);

        assertThat(two.list("/", 9)).isEmpty();
    }
}
