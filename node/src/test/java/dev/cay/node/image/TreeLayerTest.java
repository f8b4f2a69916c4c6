package dev.cay.node.image;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.cay.node.host.Programs;
import dev.cay.testing.NeedsRoot;
import dev.cay.wire.CayException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@NeedsRoot
final class TreeLayerTest {
    private static final Duration LIMIT = Duration.ofSeconds(20);

    @TempDir
    private Path dir;

    @Test
    void saysWhatToDoWhenThereIsNoNetwork() {
        String cut = "caytcut" + ProcessHandle.current().pid();
        Programs.ofHost().require(LIMIT, "ip", "netns", "add", cut);
        try {
            var layers = new LayerStore(dir);
            var programs = new Programs(List.of("ip", "netns", "exec", cut));
            var base = new TreeLayer(layers, programs, dir.resolve("logs"), Recipe.of("base"));
            assertThatThrownBy(() -> base.build((_, _, _) -> {}))
                    .isInstanceOf(CayException.class)
                    .hasMessageContaining("check that this host reaches")
                    .hasMessageContaining(dir.resolve("logs/base-template.log").toString())
                    .hasMessageNotContaining("\n");
            assertThat(dir.resolve("logs/base-template.log")).isNotEmptyFile();
            assertThat(layers.has(base.key())).isFalse();
        } finally {
            Programs.ofHost().require(LIMIT, "ip", "netns", "delete", cut);
        }
    }

    @Test
    void hearsHowFarAptIs() {
        var heard = new ArrayList<Double>();
        var progress = new AptProgress((_, _, fraction) -> heard.add(fraction), 1);
        List.of(
                        "I: running apt-get update...",
                        "0 upgraded, 1 newly installed, 0 to remove and 0 not upgraded.",
                        "Get:1 http://mirror.test/debian bookworm/main amd64 gcc-12-base amd64 12.2 [37.5 kB]",
                        "Unpacking gcc-12-base:amd64 (12.2) ...",
                        "Setting up gcc-12-base:amd64 (12.2) ...",
                        "0 upgraded, 2 newly installed, 0 to remove and 0 not upgraded.",
                        "Setting up one (1) ...",
                        "E: first trouble",
                        "E: second trouble")
                .forEach(progress::heard);
        assertThat(heard).isSorted().hasSize(5);
        assertThat(progress.complaint()).isEqualTo("first trouble");
    }
}
