package dev.cay.node.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.testing.NeedsRoot;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/// Who logged in, as the kernel's audit records tell it of a process.
@NeedsRoot
final class LoginUidTest {
    private static final String UNSET = "4294967295";

    private static TestHost host;

    @BeforeAll
    static void open() throws IOException {
        host = new TestHost();
    }

    @AfterAll
    static void close() throws IOException {
        host.close();
    }

    @Test
    void rootInsideCannotChooseItAlsoAfterAReturn() throws IOException {
        var spec = host.spec("login");
        var container = host.runtime.start(spec);
        refuses(container);

        Path images = host.directory.resolve("login-images");
        host.runtime.checkpoint(container.id(), images, ContainerRuntime.After.END);
        var elsewhere = new ContainerSpec(
                spec.id(),
                host.plan.take(),
                spec.resources(),
                spec.maxProcesses(),
                spec.layers(),
                spec.writable(),
                "login");
        refuses(host.runtime.restore(elsewhere, images, host.guest.key()));
    }

    /// What is set stays as it is: to change it takes a capability over the host.
    private static void refuses(Container container) throws IOException {
        assertThat(Files.readString(Path.of("/proc/%d/loginuid".formatted(container.pid()))))
                .isNotEqualTo(UNSET);
        for (int uid : new int[] {0, 5}) {
            var result = host.shell(container, "echo %d > /proc/self/loginuid".formatted(uid));
            assertThat(result.path("code").asInt()).isNotZero();
            assertThat(result.path("err").asString("")).contains("Operation not permitted");
        }
    }
}
