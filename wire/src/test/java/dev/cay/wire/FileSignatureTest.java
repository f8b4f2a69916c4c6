package dev.cay.wire;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.testing.Fast;
import org.junit.jupiter.api.Test;

@Fast
class FileSignatureTest {
    @Test
    void signsAsClientsDo() {
        assertThat(FileSignature.sign("hello.txt", "read", "user", null, "0tQG31xiMp0IOQfaz9dcwi72L1CPo8e0"))
                .isEqualTo("v1_gUtH/s9YCJWgCizjfUxuWfhFE4QSydOWEIIvfLwDr6E");
        assertThat(FileSignature.sign("a b.txt", "write", "", null, "tok-sample-0001"))
                .isEqualTo("v1_n6DOZ4f9GEIu0MUy8R7L+2rVCNg8VZg3WTenkDrmlWo");
    }
}
