package dev.cay.wire;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.testing.Fast;
import org.junit.jupiter.api.Test;

@Fast
class CayVersionTest {
    @Test
    void isWhatTheBuildSays() {
        assertThat(CayVersion.text()).matches("\\d+\\.\\d+\\.\\d+(-\\w+)?");
    }
}
