package dev.cay.node.runtime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.cay.wire.CayException;
import dev.cay.wire.SandboxId;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

/// What every {@link ContainerRuntime} does, however it isolates. Tests share a host: each has sandboxes of its own.
interface ContainerRuntimeContract {
    TestHost host();

    ContainerRuntime runtime();

    /// The same kind of runtime as a later daemon has it, on the same directories.
    ContainerRuntime laterRuntime();

    @Test
    default void aStartedContainerIsFoundUntilItIsDeleted() throws IOException {
        ContainerSpec spec = host().spec("gone");
        List<String> mountsBefore = mounts();
        Container container = runtime().start(spec);
        assertThat(runtime().find(spec.id())).contains(container);
        assertThat(runtime().list()).contains(spec.id());
        assertThat(host().hasLink(spec.slot())).isTrue();
        assertThat(host().cgroups("gone")).isNotEmpty();

        runtime().delete(spec.id());
        host().pool.delete(spec.id());

        assertThat(runtime().list()).doesNotContain(spec.id());
        assertThat(runtime().find(spec.id())).isEmpty();
        assertThat(host().hasLink(spec.slot())).isFalse();
        assertThat(host().cgroups("gone")).isEmpty();
        assertThat(mounts()).isEqualTo(mountsBefore);
        assertThat(ProcessStat.read(container.pid()).filter(stat -> stat.is(container.startTime())))
                .isEmpty();
        assertThat(host().pool.list()).doesNotContain(spec.id());
    }

    /// Those of this host alone: other tests may run beside this one.
    private List<String> mounts() throws IOException {
        try (var lines = Files.lines(Path.of("/proc/self/mountinfo"))) {
            return lines.filter(line -> line.contains(host().directory.toString()))
                    .toList();
        }
    }

    @Test
    default void unknownIdsAreFineWhereSomethingIsEnded() {
        var unknown = new SandboxId("unknown");

        runtime().kill(unknown);
        runtime().delete(unknown);
        runtime().settle(unknown);
        assertThat(runtime().find(unknown)).isEmpty();
        assertThat(runtime().goOn(unknown)).isEmpty();
        assertThat(runtime().memoryKills(unknown)).isZero();
        assertThat(runtime().serverMemoryKills(unknown)).isEmpty();
        assertThat(runtime().list()).doesNotContain(unknown);
    }

    @Test
    default void aContainerThatCannotStartLeavesNothing() {
        ContainerSpec spec = host().spec("broken");
        var broken = new ContainerSpec(
                spec.id(),
                spec.slot(),
                spec.resources(),
                spec.maxProcesses(),
                List.of(Path.of("/no/such/layer")),
                spec.writable(),
                "broken");

        assertThatThrownBy(() -> runtime().start(broken))
                .isInstanceOf(CayException.class)
                .hasMessageContaining("starting the sandbox failed")
                .hasMessageContaining("/no/such/layer: No such file or directory");
        assertThat(runtime().list()).doesNotContain(spec.id());
        assertThat(host().cgroups("broken")).isEmpty();
    }

    @Test
    default void aLaterDaemonFindsAContainerUntilItDies() {
        Container container = runtime().start(host().spec("adopted"));
        var later = laterRuntime();

        assertThat(later.find(container.id())).contains(container);
        assertThat(later.list()).contains(container.id());
        assertThat(later.guest(container.id())).isEqualTo(runtime().guest(container.id()));
        later.freeze(container.id());
        later.kill(container.id());
        assertThat(later.find(container.id())).isEmpty();
        assertThat(later.list()).contains(container.id());
        later.delete(container.id());
        assertThat(later.list()).doesNotContain(container.id());
    }

    @Test
    default void aProcessThatTakesTooMuchMemoryIsKilledAndCounted() {
        Container container = runtime().start(host().spec("memory"));

        var result = host().ask(container, "run", "0", "dd", "if=/dev/zero", "of=/dev/null", "bs=1G", "count=1");

        assertThat(result.path("signal").asInt()).isEqualTo(9);
        assertThat(runtime().usage(container).oomKills()).isPositive();
        assertThat(runtime().memoryKills(container.id())).isPositive();
        assertThat(host().output(container, "echo alive")).isEqualTo("alive");
        runtime().delete(container.id());
    }

    @Test
    default void writingEndsAtTheDiskLimit() {
        Container container = runtime().start(host().spec("disk"));

        String write = "dd if=/dev/zero of=/big bs=1M count=200 oflag=dsync";
        assertThat(host().shell(container, write).path("err").asString()).contains("Disk quota exceeded");
        assertThat(host().output(container, "rm /big && sync && echo fine")).isEqualTo("fine");
        runtime().delete(container.id());
    }

    @Test
    default void aCheckpointThatKeepsTheOriginalLetsItGoOn() {
        ContainerSpec spec = host().spec("kept");
        Container container = runtime().start(spec);
        runtime().freeze(spec.id());

        runtime().checkpoint(spec.id(), host().directory.resolve("kept-images"), ContainerRuntime.After.STAY);
        runtime().thaw(spec.id());

        assertThat(runtime().find(spec.id())).contains(container);
        assertThat(host().output(container, "echo on")).isEqualTo("on");
        runtime().delete(spec.id());
    }

    @Test
    default void aContainerGoesOnFromACheckpointThatEndedIt() {
        ContainerSpec spec = host().spec("ended");
        Container container = runtime().start(spec);
        host().output(container, "sleep 999 >/dev/null 2>&1 </dev/null & echo $! > /sleeper");
        String guest = runtime().guest(spec.id());
        Path images = host().directory.resolve("ended-images");

        runtime().checkpoint(spec.id(), images, ContainerRuntime.After.END);
        assertThat(runtime().find(spec.id())).isEmpty();
        assertThat(runtime().list()).doesNotContain(spec.id());
        Container restored = runtime().restore(spec, images, guest);

        assertThat(runtime().find(spec.id())).contains(restored);
        assertThat(host().output(restored, "cat /proc/$(cat /sleeper)/comm")).isEqualTo("sleep");
        runtime().delete(spec.id());
    }
}
