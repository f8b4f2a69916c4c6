package dev.cay.mcp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ServerSettingsTest {
    @TempDir
    private Path directory;

    @Test
    void readsAFileAndPrefersTheProcess() throws Exception {
        Files.writeString(directory.resolve(".env"), """
                # a comment
                E2B_API_KEY="e2b_0f"
                export MAX_ACTIVE_SANDBOXES = 3
                LOG_LEVEL='warning'
                nonsense
                """);
        var settings = ServerSettings.read(Map.of("MAX_ACTIVE_SANDBOXES", "7"), directory);
        assertThat(settings.sandboxes().apiKey()).isEqualTo("e2b_0f");
        assertThat(settings.most()).isEqualTo(7);
        assertThat(settings.logLevel()).isEqualTo("WARN");
    }

    @Test
    void withoutWordsItIsTheUsual() {
        var settings = ServerSettings.read(Map.of("E2B_API_KEY", "e2b_0f"), directory);
        assertThat(settings.most()).isEqualTo(10);
        assertThat(settings.template()).isEqualTo("code-interpreter-v1");
    }

    @ParameterizedTest
    @ValueSource(strings = {"0", "-1", "many", "", "100000"})
    void aNumberThatIsNoneIsNamed(String most) {
        assertThatThrownBy(() ->
                        ServerSettings.read(Map.of("E2B_API_KEY", "e2b_0f", "MAX_ACTIVE_SANDBOXES", most), directory))
                .hasMessageContaining("MAX_ACTIVE_SANDBOXES");
    }

    @Test
    void aLevelThatIsNoneIsNamed() {
        assertThatThrownBy(() -> ServerSettings.read(Map.of("E2B_API_KEY", "e2b_0f", "LOG_LEVEL", "LOUD"), directory))
                .hasMessageContainingAll("LOG_LEVEL", "LOUD", "WARNING");
    }
}
