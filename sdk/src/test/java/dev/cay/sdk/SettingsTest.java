package dev.cay.sdk;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.cay.testing.Fast;
import java.net.URI;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Fast
class SettingsTest {
    private static final String KEY = "e2b_0123456789abcdef";

    @Test
    void withoutAnythingButAKeyItIsTheCloud() {
        var settings = Settings.from(Map.of("E2B_API_KEY", KEY));
        assertThat(settings.apiUrl()).isEqualTo(URI.create("https://api.e2b.app"));
        assertThat(settings.sandboxUrl()).isNull();
    }

    @Test
    void aDomainNamesTheServerToo() {
        var settings = Settings.of(KEY, "cay.localhost:8443");
        assertThat(settings.apiUrl()).isEqualTo(URI.create("https://api.cay.localhost:8443"));
    }

    @Test
    void addressesComeBeforeTheDomain() {
        var settings = Settings.from(Map.of(
                "E2B_API_KEY",
                KEY,
                "E2B_API_URL",
                "http://127.0.0.1:3000/",
                "E2B_SANDBOX_URL",
                "http://127.0.0.1:3000"));
        assertThat(settings.apiUrl()).isEqualTo(URI.create("http://127.0.0.1:3000"));
        assertThat(settings.sandboxUrl()).isEqualTo(URI.create("http://127.0.0.1:3000"));
    }

    @Test
    void withoutAKeyItSaysWhereOneComesFrom() {
        assertThatThrownBy(() -> Settings.from(Map.of()))
                .isInstanceOf(SandboxException.class)
                .hasMessageContaining("E2B_API_KEY");
    }

    @ParameterizedTest
    @ValueSource(strings = {"127.0.0.1:3000", "ftp://a", "http://", "http://a b"})
    void anAddressThatIsNoneIsNamed(String url) {
        assertThatThrownBy(() -> Settings.from(Map.of("E2B_API_KEY", KEY, "E2B_API_URL", url)))
                .isInstanceOf(SandboxException.class)
                .hasMessageMatching("(E2B_API_URL|apiUrl) .*");
    }

    @Test
    void theKeyIsNotShown() {
        assertThat(Settings.of(KEY, "x").toString()).doesNotContain(KEY);
    }

    @Test
    void noTimeIsNoTimeout() {
        assertThatThrownBy(() -> Settings.of(KEY, "x").withRequestTimeout(Duration.ZERO))
                .hasMessageContaining("requestTimeout");
    }
}
