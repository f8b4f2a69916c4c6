package dev.cay.node.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.node.host.Slot;
import dev.cay.testing.NeedsRoot;
import dev.cay.wire.SandboxId;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/// A sandbox keeps its processes through pause and resume, and through a second pause and resume.
@NeedsRoot
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

            String boot = host.output(sandbox, "cat /proc/sys/kernel/random/boot_id");
            for (int generation = 1; generation <= 2; generation++) {
                Path images = host.directory.resolve("images" + generation);
                String guest = host.runtime.guest(spec.id());
                host.runtime.checkpoint(spec.id(), images, ContainerRuntime.After.END);
                assertThat(host.runtime.find(spec.id())).isEmpty();
                assertThat(host.hasLink(spec.slot())).isFalse();

                sandbox = host.runtime.restore(spec, images, guest);

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
                assertThat(host.output(sandbox, "cat /proc/sys/kernel/random/boot_id"))
                        .isEqualTo(boot)
                        .isNotEqualTo(Files.readString(Path.of("/proc/sys/kernel/random/boot_id"))
                                .strip());
                assertThat(host.output(sandbox, "cat /proc/self/status"))
                        .contains("Seccomp:\t2", "CapBnd:\t00000000a80425fb");
            }
            assertThat(host.output(sandbox, "echo fresh > /file && cat /file")).isEqualTo("fresh");
        }
    }

    @Test
    void restoresACopyInAnotherSlotBesideTheOriginal() throws IOException {
        try (var host = new TestHost()) {
            ContainerSpec spec = host.spec("parent");
            Container parent = host.runtime.start(spec);
            host.output(parent, "echo inherited > /file");
            String shell =
                    host.ask(parent, "pty", "0", "bash", "--norc").path("pid").asString();
            host.ask(parent, "type", shell, "WHO=parent; echo set$WHO", "setparent");

            host.runtime.freeze(spec.id());
            Path images = host.directory.resolve("images");
            host.runtime.checkpoint(spec.id(), images, ContainerRuntime.After.STAY);
            var child = new SandboxId("child");
            host.pool.save(spec.id(), host.directory.resolve("pool/saved"), 100);
            Path disk = host.pool.bring(host.directory.resolve("pool/saved"), child, 100);
            host.runtime.thaw(spec.id());
            Slot slot = host.plan.take();
            Container copy = host.runtime.restore(
                    new ContainerSpec(child, slot, spec.resources(), spec.maxProcesses(), spec.layers(), disk, "child"),
                    images,
                    host.runtime.guest(spec.id()));

            host.ask(copy, "type", shell, "echo is$WHO; WHO=child", "isparent");
            assertThat(host.output(copy, "cat /file; echo changed > /file")).isEqualTo("inherited");
            assertThat(host.output(parent, "cat /file")).isEqualTo("inherited");
            host.ask(parent, "type", shell, "echo still$WHO", "stillparent");
            assertThat(Files.readString(Path.of("/proc/" + copy.pid() + "/uid_map")))
                    .contains(Integer.toUnsignedString(slot.uidBase()));
            Object owner = Files.getAttribute(
                    Path.of("/proc/" + copy.pid() + "/ns/net"), "unix:uid", LinkOption.NOFOLLOW_LINKS);
            assertThat(owner).isEqualTo(slot.uidBase());
        }
    }
}
