package dev.cay.node.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Reads both kinds of hierarchies, of which a host has one or the other: files as the kernel writes them.
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

        assertThat(cgroups.usage("/cay/box"))
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

        assertThat(cgroups.usage("/cay/box"))
                .isEqualTo(new Usage(Duration.ofNanos(1_500_000), 2_000_000, 4_000_000, 7, 2));
        assertThat(cgroups.limitsSwap()).isFalse();
    }

    @Test
    void sandboxesTogetherYieldToTheDaemon() throws IOException {
        Path fresh = Files.createDirectories(root.resolve("new/cay"));
        Files.writeString(root.resolve("new/cgroup.subtree_control"), "memory pids\n");
        Files.writeString(fresh.resolve("cpu.weight"), "100\n");
        Cgroups.parse(List.of(mount(root.resolve("new"), "cgroup2 cgroup2 rw"))).yieldToOthers("/cay");
        assertThat(fresh.resolve("cpu.weight")).hasContent("12");
        assertThat(root.resolve("new/cgroup.subtree_control")).hasContent("+cpu");

        Path old = Files.createDirectories(root.resolve("cpu/cay"));
        Files.writeString(old.resolve("cpu.shares"), "1024\n");
        Cgroups.parse(List.of(
                        mount(root.resolve("new"), "cgroup2 cgroup2 rw"),
                        mount(root.resolve("cpu"), "cgroup cgroup rw,cpu")))
                .yieldToOthers("/cay");
        assertThat(old.resolve("cpu.shares")).hasContent("128");
    }

    private static String mount(Path place, String rest) {
        return "30 20 0:26 / %s rw,nosuid shared:9 - %s".formatted(place, rest);
    }
}
