package dev.cay.node.runtime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.cay.testing.Fast;
import dev.cay.wire.SandboxId;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Reads both kinds of hierarchies, of which a host has one or the other: files as the kernel writes them.
@Fast
class CgroupsTest {
    @TempDir
    Path root;

    @Test
    void readsTheUseOfAGroupInTheNewHierarchy() throws IOException {
        Path group = Files.createDirectories(root.resolve("cay/box"));
        Files.writeString(group.resolve("memory.current"), "5000000\n");
        Files.writeString(group.resolve("memory.stat"), "anon 1000000\nfile 4000000\ninactive_file 3000000\n");
        Files.writeString(group.resolve("memory.events"), "low 0\nhigh 0\nmax 9\noom 1\noom_kill 2\n");
        Files.writeString(group.resolve("cpu.stat"), "usage_usec 1500\nuser_usec 1000\n");
        Files.writeString(group.resolve("pids.current"), "7\n");
        Files.writeString(group.resolve("cgroup.freeze"), "0\n");

        var cgroups = Cgroups.parse(List.of(mount(root, "cgroup2 cgroup2 rw,nsdelegate")));

        assertThat(cgroups.usage("/cay/box", "/cay/box"))
                .isEqualTo(new Usage(Duration.ofNanos(1_500_000), 2_000_000, 4_000_000, 7, 2));
        assertThat(cgroups.limitsSwap()).isTrue();
        cgroups.freeze("/cay/box");
        assertThat(group.resolve("cgroup.freeze")).hasContent("1");
    }

    @Test
    void readsTheUseOfAGroupInTheOldHierarchies() throws IOException {
        Path memory = Files.createDirectories(root.resolve("memory/cay/box"));
        Path cpu = Files.createDirectories(root.resolve("cpu,cpuacct/cay/box"));
        Path pids = Files.createDirectories(root.resolve("pids/cay/box"));
        Files.writeString(memory.resolve("memory.usage_in_bytes"), "5000000\n");
        Files.writeString(memory.resolve("memory.stat"), "cache 1\ntotal_cache 4000000\ntotal_inactive_file 3000000\n");
        Files.writeString(memory.resolve("memory.oom_control"), "oom_kill_disable 0\nunder_oom 0\noom_kill 2\n");
        Files.writeString(cpu.resolve("cpuacct.usage"), "1500000\n");
        Files.writeString(pids.resolve("pids.current"), "7\n");

        var cgroups = Cgroups.parse(List.of(
                mount(root.resolve("memory"), "cgroup cgroup rw,memory"),
                mount(root.resolve("cpu,cpuacct"), "cgroup cgroup rw,cpu,cpuacct"),
                mount(root.resolve("pids"), "cgroup cgroup rw,pids"),
                "1 1 0:1 / / rw - ext4 /dev/vda rw"));

        assertThat(cgroups.usage("/cay/box", "/cay/box"))
                .isEqualTo(new Usage(Duration.ofNanos(1_500_000), 2_000_000, 4_000_000, 7, 2));
        assertThat(cgroups.limitsSwap()).isFalse();
    }

    @Test
    void aGroupGetsMoreOrLessThanThoseBesideIt() throws IOException {
        Path fresh = Files.createDirectories(root.resolve("new/cay/box"));
        Files.writeString(fresh.resolve("cpu.weight"), "100\n");
        var onNewHost = Cgroups.parse(List.of(mount(root.resolve("new"), "cgroup2 cgroup2 rw")));
        onNewHost.weigh("/cay/box", 16);
        assertThat(fresh.resolve("cpu.weight")).hasContent("1600");
        onNewHost.weigh("/cay/box", 0.125);
        assertThat(fresh.resolve("cpu.weight")).hasContent("13");
        onNewHost.weigh("/cay/box", 1);
        assertThat(fresh.resolve("cpu.weight")).hasContent("100");

        Path old = Files.createDirectories(root.resolve("cpu/cay/box"));
        Files.writeString(old.resolve("cpu.shares"), "1024\n");
        var onHybrid = Cgroups.parse(List.of(
                mount(root.resolve("new"), "cgroup2 cgroup2 rw"), mount(root.resolve("cpu"), "cgroup cgroup rw,cpu")));
        onHybrid.weigh("/cay/box", 16);
        assertThat(old.resolve("cpu.shares")).hasContent("16384");
        assertThat(fresh.resolve("cpu.weight")).hasContent("100");
        onHybrid.weigh("/cay/gone", 16);
    }

    /// What a group may be told is switched on in every group above it.
    @Test
    void limitsAGroupOfTheNewHierarchyBelowOthers() throws IOException {
        Path around = Files.createDirectories(root.resolve("cay-0/box"));
        Files.writeString(root.resolve("cgroup.subtree_control"), "cpu memory pids\n");
        Files.writeString(root.resolve("cay-0/cgroup.subtree_control"), "cpu memory\n");
        for (String file : List.of("memory.max", "memory.swap.max", "cpu.max", "pids.max")) {
            Files.writeString(around.resolve(file), "max");
        }
        var cgroups = Cgroups.parse(List.of(mount(root, "cgroup2 cgroup2 rw,nsdelegate")));

        cgroups.make("/cay-0/box", new GroupLimits(2, 100, 300));

        assertThat(root.resolve("cgroup.subtree_control")).hasContent("cpu memory pids");
        assertThat(root.resolve("cay-0/cgroup.subtree_control")).hasContent("+pids");
        assertThat(around.resolve("memory.max")).hasContent("104857600");
        assertThat(around.resolve("memory.swap.max")).hasContent("0");
        assertThat(around.resolve("cpu.max")).hasContent("200000 100000");
        assertThat(around.resolve("pids.max")).hasContent("300");
    }

    @Test
    void refusesAGroupThatCannotBeLimited() throws IOException {
        Files.createDirectories(root.resolve("cay-0/box"));
        for (Path group : List.of(root, root.resolve("cay-0"))) {
            Files.writeString(group.resolve("cgroup.subtree_control"), "cpu memory pids\n");
        }
        var cgroups = Cgroups.parse(List.of(mount(root, "cgroup2 cgroup2 rw,nsdelegate")));

        assertThatThrownBy(() -> cgroups.make("/cay-0/box", new GroupLimits(2, 100, 300)))
                .hasMessageContaining("cannot limit the cgroup /cay-0/box")
                .hasMessageContaining("memory.max");
    }

    @Test
    void pushesAFrozenSandboxOutToTheSwap() throws IOException {
        Path around = Files.createDirectories(root.resolve("new/cay-0/box"));
        Path own = Files.createDirectories(around.resolve("_own"));
        for (Path group : List.of(around, own)) {
            Files.writeString(group.resolve("memory.swap.max"), "0");
        }
        Files.writeString(own.resolve("memory.reclaim"), "");
        var onNewHost = Cgroups.parse(List.of(mount(root.resolve("new"), "cgroup2 cgroup2 rw")));
        var groups = new SandboxGroups("/cay-0", onNewHost, 100, id -> new Bundle(root.resolve("none")));
        groups.allowSwap(new SandboxId("box"), true);
        groups.pushOut(new SandboxId("box"));
        assertThat(around.resolve("memory.swap.max")).hasContent("max");
        assertThat(own.resolve("memory.swap.max")).hasContent("max");
        assertThat(own.resolve("memory.reclaim")).hasContent("1T");
        groups.allowSwap(new SandboxId("box"), false);
        assertThat(around.resolve("memory.swap.max")).hasContent("0");
        assertThat(own.resolve("memory.swap.max")).hasContent("0");

        Path old = Files.createDirectories(root.resolve("memory/cay-0/box/_own"));
        Files.writeString(old.resolve("memory.force_empty"), "");
        var onOldHost = Cgroups.parse(List.of(mount(root.resolve("memory"), "cgroup cgroup rw,memory")));
        onOldHost.pushOut("/cay-0/box/_own");
        assertThat(old.resolve("memory.force_empty")).hasContent("0");
        onOldHost.pushOut("/cay-0/gone");
    }

    @Test
    void looksIntoGroupsBelow() throws IOException {
        Path own = Files.createDirectories(root.resolve("cay-0/box/_own"));
        Path side = Files.createDirectories(root.resolve("cay-0/box/_servers/side"));
        Files.writeString(own.resolve("cgroup.procs"), "41\n42\n");
        Files.writeString(side.resolve("cgroup.procs"), "43\n");
        Files.writeString(side.resolve("memory.events"), "oom 4\noom_kill 3\n");
        Files.writeString(root.resolve("cay-0/box/cgroup.procs"), "");
        var cgroups = Cgroups.parse(List.of(mount(root, "cgroup2 cgroup2 rw,nsdelegate")));

        assertThat(cgroups.members("/cay-0/box")).containsExactlyInAnyOrder(41, 42, 43);
        assertThat(cgroups.members("/cay-0/box/_own")).containsExactlyInAnyOrder(41, 42);
        assertThat(cgroups.memoryKills("/cay-0/box/_servers/side")).isEqualTo(3);
        assertThat(cgroups.children("/cay-0/box")).containsExactlyInAnyOrder("_own", "_servers");
        var groups = new SandboxGroups("/cay-0", cgroups, 100, id -> new Bundle(root.resolve("none")));
        assertThat(groups.names()).contains("box", "side");
        assertThat(groups.of(new SandboxId("box"))).isEqualTo("/cay-0/box/_own");
        assertThat(groups.of(new SandboxId("side"))).isEqualTo("/cay-0/box/_servers/side");
        assertThat(groups.charged(new SandboxId("box"))).isEqualTo("/cay-0/box");
        assertThat(groups.charged(new SandboxId("side"))).isEqualTo("/cay-0/box/_servers/side");
        assertThat(groups.serverKills(new SandboxId("box"))).isEqualTo(Map.of("side", 3L));
    }

    private static String mount(Path place, String rest) {
        return "30 20 0:26 / %s rw,nosuid shared:9 - %s".formatted(place, rest);
    }
}
