package dev.cay.wire;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class CayVersionTest {
    @Test
    void isWhatTheBuildSays() {
        assertThat(CayVersion.text()).matches("\\d+\\.\\d+\\.\\d+(-\\w+)?");
    }
}
