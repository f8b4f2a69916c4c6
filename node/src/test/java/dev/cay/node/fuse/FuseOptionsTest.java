package dev.cay.node.fuse;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.cay.node.runtime.FuseMount;
import dev.cay.testing.Fast;
import dev.cay.wire.CayException;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Fast
class FuseOptionsTest {
    @Test
    void whatProgramsGiveIsTakenOver() {
        var options = FuseOptions.read(
                "rw,nosuid,nodev,fsname=bucket\\,one,subtype=s3fs,allow_other,max_read=131072,noatime,user=me,suid");
        assertThat(options.kernel())
                .containsExactly("subtype=s3fs", "allow_other", "max_read=131072", "source=bucket,one");
        assertThat(options.attributes()).isEqualTo("a");
        assertThat(FuseOptions.read("").kernel()).containsExactly("source=fuse");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "fd=3",
                "user_id=0",
                "group_id=0",
                "rootmode=100000",
                "blkdev",
                "source=/dev/sda",
                "allow_other=1",
                "max_read=x",
                "subtype=a b",
                "fsname=",
                "fsname=a\nb",
                "context=system_u"
            })
    void anythingElseIsRefused(String option) {
        assertThatThrownBy(() -> FuseOptions.read("rw," + option))
                .isInstanceOf(CayException.class)
                .hasMessageContaining(option.replaceFirst("(?s)=.*", ""));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "/", "relative", "//data", "/data/", "/data/./m", "/data/../etc"})
    void pathsAreWholeAndPlain(String path) {
        assertThatThrownBy(() -> new FusePlace(path)).hasMessageContaining("whole path");
    }

    @Test
    void noMountHidesAnother() {
        var mounts = List.of(new FuseMount("/data/m", 1, 0));
        new FusePlace("/data/mm").requireFree(mounts);
        new FusePlace("/data/n").requireFree(mounts);
        assertThatThrownBy(() -> new FusePlace("/data").requireFree(mounts)).hasMessageContaining("/data/m");
        assertThatThrownBy(() -> new FusePlace("/data/m").requireFree(mounts)).hasMessageContaining("/data/m");
        assertThatThrownBy(() -> new FusePlace("/etc").requireFree(mounts)).hasMessageContaining("system");
    }
}
