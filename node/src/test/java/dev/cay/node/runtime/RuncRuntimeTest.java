package dev.cay.node.runtime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.cay.node.host.Slot;
import dev.cay.testing.NeedsRoot;
import dev.cay.wire.CayException;
import dev.cay.wire.SandboxId;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/// Real runc, real overlay, real btrfs; needs root.
@NeedsRoot
class RuncRuntimeTest implements ContainerRuntimeContract {
    private static TestHost host;

    @BeforeAll
    static void open() throws IOException {
        host = new TestHost();
    }

    @AfterAll
    static void close() throws IOException {
        host.close();
    }

    @Override
    public TestHost host() {
        return host;
    }

    @Override
    public ContainerRuntime runtime() {
        return host.runtime;
    }

    @Override
    public ContainerRuntime laterRuntime() {
        return host.successor();
    }

    @Test
    void runsOnMappedLayersWithUsersOfItsOwn() throws IOException {
        ContainerSpec spec = host.spec("users");
        Container sandbox = host.runtime.start(spec);

        String map = Files.readString(Path.of("/proc/" + sandbox.pid() + "/uid_map"));
        assertThat(map.strip().split("\\s+"))
                .containsExactly("0", Integer.toUnsignedString(spec.slot().uidBase()), "65536");
        assertThat(host.output(sandbox, "cat /etc/which")).isEqualTo("top");
        assertThat(host.output(sandbox, "touch /new && stat -c %u:%g /new /bin/bash /"))
                .isEqualTo("0:0\n0:0\n0:0");
        assertThat(host.ask(sandbox, "run", "1000", "id", "-u").path("out").asString())
                .isEqualTo("1000\n");
        Path onDisk = spec.writable().resolve("upper/new");
        assertThat(Files.getAttribute(onDisk, "unix:uid")).isEqualTo(0);
    }

    @Test
    void refusesWhatReachesBeyondTheSandbox() {
        Container sandbox = host.runtime.start(host.spec("refusals"));

        assertThat(host.output(sandbox, "cat /proc/self/status"))
                .contains("CapBnd:\t00000000a80425fb", "CapEff:\t00000000a80425fb", "Seccomp:\t2", "NoNewPrivs:\t0");
        for (String forbidden : List.of(
                "unshare -U id",
                "unshare -m id",
                "mount -t tmpfs none /tmp",
                "mknod /tmp/disk b 7 0",
                "rm -f " + ContainerConfig.GUEST,
                "mv " + ContainerConfig.GUEST + " /run/elsewhere",
                "mv /run /elsewhere",
                "echo x > " + ContainerConfig.GUEST,
                "echo x > /proc/1/exe",
                "echo 1 > /proc/sys/kernel/panic",
                "echo b > /proc/sysrq-trigger",
                "echo 0-1 > /sys/devices/system/cpu/online")) {
            assertThat(host.shell(sandbox, forbidden).path("code").asInt())
                    .as(forbidden)
                    .isNotZero();
        }
        assertThat(host.output(sandbox, "cat /proc/cmdline /proc/partitions; ls /sys/block"))
                .isEmpty();
        assertThat(host.output(sandbox, "cat /proc/sys/net/ipv4/ip_forward /proc/sys/net/ipv4/conf/eth0/forwarding"))
                .isEqualTo("0\n0");
    }

    @Test
    void holdsItToItsLimitsAndShowsThem() throws IOException {
        ContainerSpec spec = host.spec("limits");
        Container sandbox = host.runtime.start(spec);

        assertThat(host.output(sandbox, "cat /proc/meminfo"))
                .containsPattern("MemTotal: +%d kB".formatted(TestHost.RESOURCES.memoryMB() * 1024));
        assertThat(host.output(sandbox, "cat /sys/devices/system/cpu/online")).isEqualTo("0-1");
        var filled = host.ask(sandbox, "fill");
        assertThat(filled.path("what").asString()).isEqualTo("fork");
        assertThat(filled.path("started").asInt()).isBetween(TestHost.MAX_PROCESSES / 2, TestHost.MAX_PROCESSES);
        Usage usage = host.runtime.usage(sandbox);
        assertThat(usage.processes()).isLessThanOrEqualTo(TestHost.MAX_PROCESSES);
        assertThat(usage.cpuTime()).isPositive();
        assertThat(usage.memory()).isBetween(100_000L, 256L << 20);
        assertThat(usage.oomKills()).isZero();
    }

    @Test
    void leavesUnderItsOwnAddressWhateverItIsInside() throws IOException {
        ContainerSpec spec = host.spec("network");
        Container sandbox = host.runtime.start(spec);

        try (var server = new ServerSocket()) {
            server.bind(new InetSocketAddress(InetAddress.getByName(spec.slot().gateway()), 0));
            server.setSoTimeout(10_000);
            String address = "/dev/tcp/%s/%d".formatted(spec.slot().gateway(), server.getLocalPort());
            var seen = new java.util.concurrent.atomic.AtomicReference<String>("");
            Thread answering = Thread.ofPlatform().start(() -> {
                try (var connection = server.accept()) {
                    seen.set(connection.getInetAddress().getHostAddress());
                    connection.getOutputStream().write("hello\n".getBytes(StandardCharsets.UTF_8));
                } catch (IOException e) {
                    seen.set(e.toString());
                }
            });
            assertThat(host.output(sandbox, "exec 3<>%s; cat <&3".formatted(address)))
                    .isEqualTo("hello");
            join(answering);
            assertThat(seen.get()).isEqualTo(spec.slot().address());
        }
        assertThat(host.output(sandbox, "cat /proc/net/fib_trie")).contains(Slot.INNER_ADDRESS);
        assertThat(host.output(sandbox, "cat /proc/net/if_inet6"))
                .doesNotContain("eth0")
                .contains("lo");
        assertThat(host.output(sandbox, "cat /proc/sys/user/max_inotify_instances"))
                .isEqualTo("512");
    }

    /// runc would follow the link as host root, and remove and make files where it leads.
    @Test
    void refusesATemplateWhoseMountPlacesAreLinks() throws IOException {
        Path outside = Files.createDirectory(host.directory.resolve("outside"));
        Path layer = Files.createDirectory(host.directory.resolve("layers/link"));
        Files.createSymbolicLink(layer.resolve("dev"), outside);
        var plain = host.spec("linked");
        var layers = List.of(layer, host.layers.getLast());
        var linked = new ContainerSpec(
                plain.id(), plain.slot(), plain.resources(), plain.maxProcesses(), layers, plain.writable(), "linked");
        assertThatThrownBy(() -> host.runtime.start(linked))
                .hasMessageContaining("/dev among the sandbox's files is not a directory");
        assertThat(outside).isEmptyDirectory();
    }

    @Test
    void endsWhatADeadDaemonHadBegunBeforeItCleansUp() throws IOException, InterruptedException {
        Path directory = Files.createDirectories(host.directory.resolve("run/bundles/half"));
        Process begun = new ProcessBuilder("sleep", "600").start();
        try {
            Launcher.of(new Bundle(directory)).remember(begun.pid());
            assertThat(host.runtime.list()).contains(new SandboxId("half"));

            host.runtime.delete(new SandboxId("half"));

            assertThat(begun.waitFor(Duration.ofMinutes(1))).isTrue();
            assertThat(host.runtime.list()).doesNotContain(new SandboxId("half"));
        } finally {
            begun.destroyForcibly();
        }
    }

    @Test
    void listensToTheNodeOnlyAndSurvivesGarbage() {
        Container sandbox = host.runtime.start(host.spec("guarded"));
        var inside = new Command(
                "asking from inside",
                Duration.ofSeconds(30),
                "nsenter",
                "-t",
                Integer.toString(sandbox.pid()),
                "-n",
                "-p",
                "python3",
                host.script().toString(),
                "list");

        assertThatThrownBy(inside::run)
                .isInstanceOf(CayException.class)
                .hasMessageMatching("(?s).*(EOFError|reset|Broken pipe).*");
        assertThat(host.ask(sandbox, "garbage").path("cut").asBoolean()).isTrue();
        var result = host.ask(sandbox, "many", "150");
        assertThat(result.path("ended").asInt()).isEqualTo(150);
        assertThat(result.path("left").asInt()).isZero();
        assertThat(host.ask(sandbox, "run", "0", "nonesuch").path("what").asString())
                .isEqualTo("exec");
    }

    private static void join(Thread thread) {
        try {
            assertThat(thread.join(Duration.ofMinutes(1))).isTrue();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
