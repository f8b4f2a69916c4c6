package dev.cay.mcp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.cay.testing.Fast;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Fast
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
    @ValueSource(strings = {"0", "-1", "many", "100000"})
    void aNumberThatIsNoneIsNamed(String most) {
        assertThatThrownBy(() ->
                        ServerSettings.read(Map.of("E2B_API_KEY", "e2b_0f", "MAX_ACTIVE_SANDBOXES", most), directory))
                .hasMessageContaining("MAX_ACTIVE_SANDBOXES");
    }

    @Test
    void whatIsEmptyIsTheUsual() {
        var settings = ServerSettings.read(
                Map.of(
                        "E2B_API_KEY", "e2b_0f",
                        "MAX_ACTIVE_SANDBOXES", "",
                        "DEFAULT_SANDBOX_TIMEOUT_MS", " ",
                        "SANDBOX_TEMPLATE", "",
                        "LOG_LEVEL", ""),
                directory);
        assertThat(settings.most()).isEqualTo(10);
        assertThat(settings.lifetimes()).isEqualTo(new Lifetimes(300_000, 1_000, 3_600_000));
        assertThat(settings.template()).isEqualTo("code-interpreter-v1");
        assertThat(settings.logLevel()).isEqualTo("INFO");
    }

    @Test
    void lifetimesCanBeSet() {
        assertThat(lifetimes(Map.of(
                        "DEFAULT_SANDBOX_TIMEOUT_MS", "60000",
                        "MIN_SANDBOX_TIMEOUT_MS", "5000",
                        "MAX_SANDBOX_TIMEOUT_MS", "86400000")))
                .isEqualTo(new Lifetimes(60_000, 5_000, 86_400_000));
        assertThat(lifetimes(Map.of("MAX_SANDBOX_TIMEOUT_MS", "60000")))
                .isEqualTo(new Lifetimes(60_000, 1_000, 60_000));
        assertThat(lifetimes(Map.of("MIN_SANDBOX_TIMEOUT_MS", "7200000")))
                .isEqualTo(new Lifetimes(7_200_000, 7_200_000, 7_200_000));
    }

    @ParameterizedTest
    @ValueSource(strings = {"0", "-1", "999", "1h", "99999999999", "2147483648"})
    void aLifetimeThatIsNoneIsNamed(String value) {
        for (String name : List.of("DEFAULT_SANDBOX_TIMEOUT_MS", "MIN_SANDBOX_TIMEOUT_MS", "MAX_SANDBOX_TIMEOUT_MS")) {
            assertThatThrownBy(() -> lifetimes(Map.of(name, value))).hasMessageContainingAll(name, value);
        }
    }

    @Test
    void lifetimesThatContradictEachOtherAreNamed() {
        assertThatThrownBy(() -> lifetimes(Map.of("DEFAULT_SANDBOX_TIMEOUT_MS", "9000000")))
                .hasMessageContainingAll("DEFAULT_SANDBOX_TIMEOUT_MS (9000000)", "MAX_SANDBOX_TIMEOUT_MS (3600000)");
        assertThatThrownBy(() -> lifetimes(Map.of("MIN_SANDBOX_TIMEOUT_MS", "3000", "MAX_SANDBOX_TIMEOUT_MS", "2000")))
                .hasMessageContainingAll("MIN_SANDBOX_TIMEOUT_MS (3000)", "MAX_SANDBOX_TIMEOUT_MS (2000)");
    }

    private Lifetimes lifetimes(Map<String, String> variables) {
        var all = new HashMap<>(variables);
        all.put("E2B_API_KEY", "e2b_0f");
        return ServerSettings.read(all, directory).lifetimes();
    }

    @Test
    void aLevelThatIsNoneIsNamed() {
        assertThatThrownBy(() -> ServerSettings.read(Map.of("E2B_API_KEY", "e2b_0f", "LOG_LEVEL", "LOUD"), directory))
                .hasMessageContainingAll("LOG_LEVEL", "LOUD", "WARNING");
    }
}
