package dev.cay.node.runtime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.cay.testing.NeedsRoot;
import dev.cay.wire.CayException;
import dev.cay.wire.SandboxId;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/// What limits a sandbox and its side sandboxes, as the kernel has it; needs root.
@NeedsRoot
class SandboxGroupsTest {
    private static final int MB = 1 << 20;
    private static TestHost host;

    @BeforeAll
    static void open() throws IOException {
        host = new TestHost();
    }

    @AfterAll
    static void close() throws IOException {
        host.close();
    }

    /// Where a process is in the hierarchy of a controller.
    private static String group(Container container, String controller) throws IOException {
        var lines = Files.readAllLines(Path.of("/proc/%d/cgroup".formatted(container.pid())));
        return lines.stream()
                .map(line -> line.split(":", 3))
                .filter(fields -> List.of(fields[1].split(",")).contains(controller))
                .findFirst()
                .or(() -> lines.stream()
                        .map(line -> line.split(":", 3))
                        .filter(fields -> fields[1].isEmpty())
                        .findFirst())
                .orElseThrow()[2];
    }

    private static boolean old(String controller) {
        return Files.isDirectory(Path.of("/sys/fs/cgroup", controller));
    }

    /// The number in the first of the files that there is: of the old kind, of the new.
    private static long limit(String group, String controller, String oldFile, String newFile) throws IOException {
        Path file = old(controller)
                ? Path.of("/sys/fs/cgroup", controller, group, oldFile)
                : Path.of("/sys/fs/cgroup", group, newFile);
        return Long.parseLong(Files.readString(file).strip().split(" ")[0]);
    }

    private static long memory(String group) throws IOException {
        return limit(group, "memory", "memory.limit_in_bytes", "memory.max");
    }

    private static long cpu(String group) throws IOException {
        return limit(group, "cpu", "cpu.cfs_quota_us", "cpu.max");
    }

    private static long processes(String group) throws IOException {
        return limit(group, "pids", "pids.max", "pids.max");
    }

    private static long weight(String group) throws IOException {
        return limit(group, "cpu", "cpu.shares", "cpu.weight");
    }

    @Test
    void aSandboxGoesBeforeOthersOnlyWhileItStarts() throws IOException {
        var groups = new SandboxGroups(
                host.plan.cgroup(), Cgroups.mounted(), 0, id -> new Bundle(Path.of("/nowhere", id.value())));
        var neighbour = host.runtime.start(host.spec("neighbour"));
        long usual = weight(above(group(neighbour, "cpu")));
        assertThat(weight(host.plan.cgroup())).isEqualTo(Math.round(usual / 8.0));
        var spec = host.spec("starting");
        String around = host.plan.cgroup() + "/starting";

        try (var _ = groups.enter(spec)) {
            assertThat(weight(around)).isEqualTo(16 * usual);
            // As after a kill of the daemon.
            host.successor();
            assertThat(weight(around)).isEqualTo(usual);
        }

        host.runtime.delete(spec.id());
        host.runtime.delete(neighbour.id());
    }

    private static String above(String group) {
        return group.substring(0, group.lastIndexOf('/'));
    }

    @Test
    void aSandboxAndItsServersHaveOneLimitTogether() throws IOException {
        var spec = host.spec("together");
        var owner = host.runtime.start(spec);
        var side = host.runtime.start(host.side("togetherside", owner.id()));
        String around = host.plan.cgroup() + "/together";
        int own = TestHost.RESOURCES.memoryMB();
        int servers = TestHost.SERVERS.memoryMB();

        for (String controller : List.of("memory", "cpu", "pids", "freezer")) {
            assertThat(above(group(owner, controller))).isEqualTo(around);
            assertThat(above(above(group(side, controller)))).isEqualTo(around);
        }
        assertThat(memory(group(owner, "memory"))).isEqualTo((long) own * MB);
        assertThat(memory(above(group(side, "memory")))).isEqualTo((long) servers * MB);
        assertThat(memory(around)).isEqualTo((long) (own + servers) * MB);
        for (String each : List.of(group(owner, "cpu"), group(side, "cpu"), around)) {
            assertThat(cpu(each)).isEqualTo(TestHost.RESOURCES.cpuCount() * 100_000L);
        }
        assertThat(processes(above(group(side, "pids")))).isEqualTo(TestHost.MAX_PROCESSES);
        assertThat(processes(around)).isEqualTo(2L * TestHost.MAX_PROCESSES);
        if (old("memory") && Files.exists(Path.of("/sys/fs/cgroup/memory/memory.memsw.limit_in_bytes"))) {
            assertThat(limit(around, "memory", "memory.memsw.limit_in_bytes", ""))
                    .isEqualTo((long) (own + servers) * MB);
        }

        host.runtime.delete(owner.id());
        assertThat(host.runtime.find(side.id()))
                .as("not ended with its owner's container")
                .isPresent();
        assertThat(host.output(side, "echo alive")).isEqualTo("alive");
        host.runtime.delete(side.id());
        assertThat(host.cgroups("together")).isEmpty();
    }

    @Test
    void whatServersTakeIsChargedAndToldOf() throws IOException {
        var owner = host.runtime.start(host.spec("charged"));
        var side = host.runtime.start(host.side("chargedside", owner.id()));
        var before = host.runtime.usage(owner);

        host.output(side, "for ((i = 0; i < 200000; i++)); do :; done");
        var result = host.ask(side, "run", "0", "dd", "if=/dev/zero", "of=/dev/null", "bs=1G", "count=1");

        assertThat(result.path("signal").asInt()).isEqualTo(9);
        assertThat(host.runtime.usage(owner).cpuTime().minus(before.cpuTime()).toMillis())
                .isGreaterThan(20);
        assertThat(host.runtime.serverMemoryKills(owner.id()).get("chargedside"))
                .isPositive();
        assertThat(host.runtime.memoryKills(owner.id())).isZero();
        assertThat(host.output(owner, "echo alive")).isEqualTo("alive");
    }

    @Test
    void whoIsFrozenIsFrozenAlone() throws IOException {
        var owner = host.runtime.start(host.spec("frozen"));
        var side = host.runtime.start(host.side("frozenside", owner.id()));

        host.runtime.freeze(owner.id());
        assertThat(host.output(side, "echo runs")).isEqualTo("runs");
        host.runtime.freeze(side.id());
        RuncRuntime.endAll(host.plan.cgroup());

        assertThat(host.runtime.find(owner.id())).isEmpty();
        assertThat(host.runtime.find(side.id())).isEmpty();
        assertThat(host.cgroups("")).isEmpty();
    }

    @Test
    void aServerWithoutItsOwnerIsRefused() {
        var side = host.side("orphanside", new SandboxId("nobody"));
        assertThatThrownBy(() -> host.runtime.start(side))
                .isInstanceOf(CayException.class)
                .hasMessageContaining("sandbox nobody does not run now");
        assertThat(host.runtime.list()).doesNotContain(side.id(), new SandboxId("nobody"));
    }

    @Test
    void aSuccessorFindsThemAll() throws IOException {
        var owner = host.runtime.start(host.spec("left"));
        var side = host.runtime.start(host.side("leftside", owner.id()));
        var successor = host.successor();

        assertThat(successor.list()).contains(owner.id(), side.id());
        assertThat(successor.usage(side).processes()).isPositive();
        // Also without what the one before has written.
        for (var id : List.of(owner.id(), side.id())) {
            remove(host.directory.resolve("run/bundles").resolve(id.value()).resolve("config.json"));
        }
        var third = host.successor();
        assertThat(third.usage(side).processes()).isPositive();
        third.delete(side.id());
        assertThat(third.find(owner.id())).isPresent();
        third.delete(owner.id());
        assertThat(ProcessStat.read(owner.pid()).filter(stat -> stat.is(owner.startTime())))
                .isEmpty();
        assertThat(host.cgroups("left")).isEmpty();
    }

    private static void remove(Path file) throws IOException {
        Files.delete(file);
    }

    /// An older Cay put all processes of a sandbox into the group with its name.
    @Test
    void aSandboxOfAnOlderVersionKeepsItsGroup() throws IOException {
        assumeTrue(old("memory"), "processes can be moved up in cgroups of the old kind only");
        var started = host.runtime.start(host.spec("older"));
        flatten(started);
        var successor = host.successor();
        String flat = host.plan.cgroup() + "/older";

        assertThat(group(started, "memory")).isEqualTo(flat);
        assertThat(successor.list()).contains(started.id());
        assertThat(successor.usage(started).processes()).isPositive();
        successor.freeze(started.id());
        assertThat(Files.readString(Path.of("/sys/fs/cgroup/freezer", flat, "freezer.state")))
                .startsWith("FR");
        successor.thaw(started.id());
        var side = successor.start(host.side("olderside", started.id()));
        assertThat(above(group(side, "memory"))).isEqualTo(flat + "_servers");
        assertThat(memory(flat + "_servers")).isEqualTo((long) TestHost.SERVERS.memoryMB() * MB);
        assertThat(cpu(flat + "_servers")).isEqualTo(TestHost.RESOURCES.cpuCount() * 100_000L);
        assertThat(host.successor().list()).contains(side.id());
        successor.delete(side.id());
        assertThat(host.output(started, "echo alive")).isEqualTo("alive");

        successor.delete(started.id());
        assertThat(host.cgroups("older")).isEmpty();
        assertThat(host.cgroups("older_servers")).isEmpty();
    }

    /// What was saved of one in a group of another depth, as those of older versions were.
    @Test
    void whatWasSavedInOneGroupGoesOnInAnother() throws IOException {
        var owner = host.runtime.start(host.spec("deep"));
        var side = host.runtime.start(host.side("deepside", owner.id()));
        Path images = host.directory.resolve("deep-images");
        host.runtime.checkpoint(side.id(), images, ContainerRuntime.After.END);
        var spec = new ContainerSpec(
                side.id(),
                host.plan.take(),
                TestHost.RESOURCES,
                TestHost.MAX_PROCESSES,
                host.layers,
                host.pool.layer(side.id()),
                "deepside");

        var restored = host.runtime.restore(spec, images, host.guest.key());

        assertThat(group(restored, "memory")).isEqualTo(host.plan.cgroup() + "/deepside/_own");
        assertThat(host.output(restored, "cat /proc/self/cgroup; echo back")).endsWith("/\nback");
        host.runtime.delete(restored.id());
        assertThat(host.cgroups("deepside")).isEmpty();
    }

    private static void flatten(Container container) throws IOException {
        String own = group(container, "memory");
        for (Path directory : host.cgroups("older/_own")) {
            for (String pid : Files.readAllLines(directory.resolve("cgroup.procs"))) {
                Files.writeString(directory.resolveSibling("cgroup.procs"), pid);
            }
            Files.delete(directory);
        }
        for (Path file : List.of(
                host.directory.resolve("run/bundles/older/config.json"),
                host.directory.resolve("run/runc/older/state.json"))) {
            Files.writeString(file, Files.readString(file).replace(own, above(own)));
        }
    }
}
