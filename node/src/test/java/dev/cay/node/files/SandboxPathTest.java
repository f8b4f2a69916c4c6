package dev.cay.node.files;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.cay.testing.Fast;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Fast
class SandboxPathTest {
    private static final Account USER = new Account("user", 1000, 1000, "/home/user", "/bin/bash", List.of());

    @ParameterizedTest
    @CsvSource({
        "'', /work",
        "~, /home/user",
        "~/a, /home/user/a",
        "a/b, /home/user/a/b",
        "./a, /home/user/a",
        "../x, /home/x",
        "../../../etc, /etc",
        "/a//b/./c/../d, /a/b/d",
        "/, /",
        "/.., /",
    })
    void resolvesLikeTheContract(String path, String expected) {
        assertThat(SandboxPath.resolve(path, USER, "/work").text()).isEqualTo(expected);
    }

    @Test
    void refusesOtherHomesAndNul() {
        assertThatThrownBy(() -> SandboxPath.resolve("~root/x", USER, "/")).hasMessageContaining("~root/x");
        assertThatThrownBy(() -> SandboxPath.resolve("/a\0b", USER, "/")).hasMessageContaining("invalid path");
    }
}
