package dev.cay.acceptance;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.platform.NpmClient;
import dev.cay.platform.OwnCay;
import dev.cay.testing.NeedsRoot;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// The builder of clients of 2025, which ask for builds by an older route. They know no variables for URLs.
@ExtendWith(TestPlatform.class)
@NeedsRoot
@Timeout(value = 5, unit = TimeUnit.MINUTES)
final class OlderBuilderTest {
    @ParameterizedTest
    @ValueSource(strings = {"2.3.3", "2.5.0"})
    void buildsTemplatesByItsOwnRoutes(String version, OwnCay platform) throws Exception {
        var tests = NpmClient.install("e2b", version)
                .program(
                        platform.environment(OwnCay.Mode.DOMAIN),
                        "node",
                        "--test",
                        "--test-reporter=spec",
                        "src/test/js/templates.test.mjs")
                .redirectErrorStream(true)
                .start();
        String output = new String(tests.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(tests.waitFor()).as(output).isZero();
        assertThat(output).contains("fail 0").containsPattern("pass [3-9]");
    }
}
