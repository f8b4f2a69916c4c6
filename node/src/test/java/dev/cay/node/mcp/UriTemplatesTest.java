package dev.cay.node.mcp;

import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import dev.cay.testing.Fast;
import org.junit.jupiter.api.Test;

@Fast
final class UriTemplatesTest {
    @Test
    void fitWhatWasMadeFromThem() {
        assertThat(UriTemplates.fits("test://template/{id}/data", "test://template/7/data"))
                .isTrue();
        assertThat(UriTemplates.fits("file:///{+path}", "file:///a/b")).isTrue();
        assertThat(UriTemplates.fits("a{x}b{y}c", "a1b2c")).isTrue();
        assertThat(UriTemplates.fits("plain", "plain")).isTrue();
    }

    @Test
    void fitNothingElse() {
        assertThat(UriTemplates.fits("test://template/{id}/data", "test://template/7"))
                .isFalse();
        assertThat(UriTemplates.fits("a{x}a", "a")).isFalse();
        assertThat(UriTemplates.fits("a{x}b{y}c", "a1c2b")).isFalse();
        assertThat(UriTemplates.fits("plain", "plain2")).isFalse();
    }

    @Test
    void takeNoTimeHoweverEvil() {
        String template = "{+a}x".repeat(20_000) + "!";
        String uri = "x".repeat(100_000);
        assertThat(assertTimeoutPreemptively(ofSeconds(30), () -> UriTemplates.fits(template, uri)))
                .isFalse();
    }
}
