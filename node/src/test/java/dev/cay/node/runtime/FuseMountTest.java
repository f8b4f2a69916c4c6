package dev.cay.node.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.testing.Fast;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Fast
class FuseMountTest {
    @TempDir
    Path directory;

    @Test
    void mountsOfFuseAreFoundAmongOthersWhateverTheirNamesAre() throws Exception {
        var mountinfo = directory.resolve("mountinfo");
        Files.writeString(mountinfo, """
                390 389 0:41 / / rw,relatime - overlay overlay rw,lowerdir=0:1
                412 390 0:87 / /data/a\\040b\\134c rw,nosuid,nodev shared:7 - fuse.s3fs a\\040b rw,user_id=1000,group_id=1000
                413 390 0:88 / /data/ü rw,nosuid,nodev - fuse fuse rw,user_id=0,group_id=0,allow_other
                414 390 0:89 / /x\\040-\\040fuse rw - tmpfs fuse rw,user_id=5
                415 390 0:26 / /sys/fs/fuse/connections rw - fusectl fusectl rw
                """);
        assertThat(FuseMount.in(mountinfo))
                .containsExactly(new FuseMount("/data/a b\\c", 87, 1000), new FuseMount("/data/ü", 88, 0));
    }
}
