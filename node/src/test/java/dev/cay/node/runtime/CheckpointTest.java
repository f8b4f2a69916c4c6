package dev.cay.node.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/// A sandbox keeps its processes through pause and resume, and through a second pause and resume.
class CheckpointTest {
    @Test
    void keepsBackgroundProcessesAndTerminalsThroughTwoCheckpoints() throws IOException {
        try (var host = new TestHost()) {
            ContainerSpec spec = host.spec("saved");
            Container sandbox = host.runtime.start(spec);
            // A finished command that left something behind: its session has no leader any more.
            host.output(sandbox, "sleep 999 >/dev/null 2>&1 </dev/null & echo $! > /sleeper");
            String sleeper = host.output(sandbox, "cat /sleeper");
            String shell = host.ask(sandbox, "pty", "1000", "bash", "--norc")
                    .path("pid")
                    .asString();
            host.ask(sandbox, "type", shell, "KEPT=first; echo set$KEPT", "setfirst");

            for (int generation = 1; generation <= 2; generation++) {
                Path images = host.directory.resolve("images" + generation);
                host.runtime.checkpoint(spec.id(), images, ContainerRuntime.After.END);
                assertThat(host.runtime.find(spec.id())).isEmpty();
                assertThat(host.hasLink(spec.slot())).isFalse();

                sandbox = host.runtime.restore(spec, images);

                assertThat(host.runtime.find(spec.id())).contains(sandbox);
                assertThat(host.output(sandbox, "cat /proc/%s/cmdline".formatted(sleeper)))
                        .isEqualTo("sleep\0999\0".strip());
                String line = "KEPT=$KEPT+%d; echo now=$KEPT.".formatted(generation);
                String kept = generation == 1 ? "now=first+1." : "now=first+1+2.";
                assertThat(host.ask(sandbox, "type", shell, line, kept)
                                .path("out")
                                .asString())
                        .contains(kept);
                assertThat(host.output(sandbox, "cat /proc/%s/comm".formatted(shell)))
                        .isEqualTo("bash");
                assertThat(host.output(sandbox, "cat /proc/self/status"))
                        .contains("Seccomp:\t2", "CapBnd:\t00000000a80425fb");
            }
            assertThat(host.output(sandbox, "echo fresh > /file && cat /file")).isEqualTo("fresh");
        }
    }

    @Test
    void leavesAFrozenOriginalToGoOn() throws IOException {
        try (var host = new TestHost()) {
            ContainerSpec spec = host.spec("original");
            Container sandbox = host.runtime.start(spec);
            host.runtime.freeze(spec.id());

            Path images = host.directory.resolve("images");
            host.runtime.checkpoint(spec.id(), images, ContainerRuntime.After.STAY);
            host.runtime.thaw(spec.id());

            assertThat(host.output(sandbox, "echo on")).isEqualTo("on");
            assertThat(Files.exists(images.resolve("inventory.img"))).isTrue();
        }
    }
}
