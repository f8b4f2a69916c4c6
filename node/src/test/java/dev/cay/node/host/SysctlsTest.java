package dev.cay.node.host;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.testing.Fast;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Fast
final class SysctlsTest {
    @TempDir
    private Path dir;

    @Test
    void raisesWhatIsTooLowAndPutsItBack() throws Exception {
        set("kernel/pid_max", "32768\n");
        set("net/ipv4/ip_forward", "0\n");
        set("fs/file-max", "9999999999\n");

        assertThat(sysctls().apply())
                .extracting(Sysctls.Change::name)
                .containsExactlyInAnyOrder("kernel.pid_max", "net.ipv4.ip_forward");
        assertThat(value("kernel/pid_max")).isEqualTo("4194304");
        assertThat(value("fs/file-max")).isEqualTo("9999999999");
        assertThat(sysctls().apply()).isEmpty();

        assertThat(sysctls().leave("a")).hasSize(2);
        assertThat(value("kernel/pid_max")).isEqualTo("32768");
        assertThat(value("net/ipv4/ip_forward")).isEqualTo("0");
        assertThat(sysctls().leave("a")).isEmpty();
    }

    @Test
    void remembersTheFirstValueWhenRaisedTwice() throws Exception {
        set("kernel/pid_max", "32768");
        sysctls().apply();
        set("kernel/pid_max", "40000");
        sysctls().apply();
        sysctls().leave("a");
        assertThat(value("kernel/pid_max")).isEqualTo("32768");
    }

    @Test
    void leavesAloneWhatSomebodyElseChangedSince() throws Exception {
        set("kernel/pid_max", "32768");
        sysctls().apply();
        set("kernel/pid_max", "5000000");
        assertThat(sysctls().leave("a")).isEmpty();
        assertThat(value("kernel/pid_max")).isEqualTo("5000000");
    }

    @Test
    void theLastToLeavePutsBack() throws Exception {
        set("kernel/pid_max", "32768");
        join("a", 1);
        sysctls().apply();
        join("b", 2);
        assertThat(sysctls().apply()).isEmpty();

        assertThat(sysctls().leave("a")).isEmpty();
        assertThat(value("kernel/pid_max")).isEqualTo("4194304");
        assertThat(sysctls().leave("b")).hasSize(1);
        assertThat(value("kernel/pid_max")).isEqualTo("32768");
    }

    @Test
    void turnsForwardingOnAgainAndRefusesToGoOnWithout() throws Exception {
        set("net/ipv4/ip_forward", "0");
        sysctls().apply();
        set("net/ipv4/ip_forward", "0");
        sysctls().forward();
        assertThat(value("net/ipv4/ip_forward")).isEqualTo("1");
        sysctls().leave("a");
        assertThat(value("net/ipv4/ip_forward")).isEqualTo("0");
    }

    private void join(String instance, int number) {
        var plan = new HostPlan(instance, number * 600_000_000, "10.%d.0.0/16".formatted(number));
        ledger().join(HostClaim.of(plan, dir.resolve("s" + instance), dir.resolve("r" + instance), List.of(), 1, 2));
    }

    private HostLedger ledger() {
        return new HostLedger(dir.resolve("ledger"));
    }

    private Sysctls sysctls() {
        return new Sysctls(ledger(), dir.resolve("sys"));
    }

    private void set(String path, String value) throws IOException {
        var file = dir.resolve("sys").resolve(path);
        Files.createDirectories(dir.resolve("sys").resolve(path.substring(0, path.lastIndexOf('/'))));
        Files.writeString(file, value);
    }

    private String value(String path) throws IOException {
        return Files.readString(dir.resolve("sys").resolve(path)).strip();
    }
}
