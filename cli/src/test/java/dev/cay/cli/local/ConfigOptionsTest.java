package dev.cay.cli.local;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.testing.Fast;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

@Fast
final class ConfigOptionsTest {
    @Test
    void aCommandThatIsShownNamesTheSameFile() {
        assertThat(ConfigOptions.command("down --all", null)).isEqualTo("./cay down --all");
        assertThat(ConfigOptions.command("down --all", Path.of("/etc/cay/b.yaml")))
                .isEqualTo("./cay down --all --config /etc/cay/b.yaml");
        assertThat(ConfigOptions.command("up", Path.of("b.yaml")))
                .isEqualTo("./cay up --config " + Path.of("b.yaml").toAbsolutePath());
        assertThat(ConfigOptions.command("up", Path.of("/my files/it's.yaml")))
                .isEqualTo("./cay up --config '/my files/it'\\''s.yaml'");
    }
}
