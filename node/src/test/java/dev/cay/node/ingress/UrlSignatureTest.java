package dev.cay.node.ingress;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class UrlSignatureTest {
    @Test
    void signsAsClientsDo() {
        assertThat(UrlSignature.of("hello.txt", "read", "user", "0tQG31xiMp0IOQfaz9dcwi72L1CPo8e0", null))
                .isEqualTo("v1_gUtH/s9YCJWgCizjfUxuWfhFE4QSydOWEIIvfLwDr6E");
        assertThat(UrlSignature.of("a b.txt", "write", "", "tok-sample-0001", null))
                .isEqualTo("v1_n6DOZ4f9GEIu0MUy8R7L+2rVCNg8VZg3WTenkDrmlWo");
    }
}
