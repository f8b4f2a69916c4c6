package dev.cay.acceptance;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.platform.OwnCay;
import dev.cay.platform.RemoteSandbox;
import dev.cay.prove.escape.AttackedDaemon;
import dev.cay.prove.escape.Attempt;
import dev.cay.prove.escape.EdgeVisits;
import dev.cay.prove.escape.OutsideWorld;
import dev.cay.prove.escape.Probes;
import dev.cay.prove.escape.ServerHogs;
import dev.cay.testing.NeedsRoot;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/// Root inside tries every way out. That each attempt would work without what stops it is shown by `cay prove escape`,
/// which takes longer.
@ExtendWith(TestPlatform.class)
@NeedsRoot
final class EscapeTest {
    @Test
    void refusesEveryWayOut(OwnCay platform) throws Exception {
        try (var world = OutsideWorld.make();
                var besieged = new AttackedDaemon(platform.url(), platform.key(), world)) {
            var attempts = besieged.attack();
            assertThat(attempts).hasSameSizeAs(Probes.inside());
            assertThat(attempts.stream().filter(attempt -> attempt.outcome() != Attempt.Outcome.REFUSED))
                    .isEmpty();
        }
    }

    @Test
    void aBarredSandboxReachesNoOtherThroughTheEdge(OwnCay platform) throws Exception {
        var failures = new ArrayList<String>();
        new EdgeVisits(platform.url(), platform.key(), platform.tlsPort()).check(failures);
        assertThat(failures).isEmpty();
    }

    @Test
    void serversOfASandboxShareOneLimitOfMemory() throws Exception {
        try (var cay = OwnCay.start(Map.of(), ServerHogs.sections())) {
            var failures = new ArrayList<String>();
            new ServerHogs(cay.url(), cay.key()).check(failures);
            assertThat(failures).isEmpty();
        }
    }

    /// It is a file of the host, shown read-only, and a program that runs.
    @Test
    void theProgramOfPidOneIsNotWrittenThroughTheNode(OwnCay platform) throws Exception {
        String program = "/run/.cay-guest";
        try (var sandbox = RemoteSandbox.create(platform.url(), platform.key())) {
            byte[] before = sandbox.read(program).body();
            var answer = sandbox.tryWrite(program, new byte[] {1});
            assertThat(answer.statusCode())
                    .as(new String(answer.body(), StandardCharsets.UTF_8))
                    .isEqualTo(409);
            assertThat(sandbox.read(program).body()).isEqualTo(before).hasSizeGreaterThan(10_000);
            assertThat(sandbox.run(List.of("/bin/echo", "alive"))).isEqualTo("alive\n");
        }
    }

    /// What the filter must not break: names, ping without raw sockets, sudo, setuid programs that a sandbox made
    /// itself, threads, children, terminals and timers.
    @Test
    void leavesOrdinaryProgramsAlone(OwnCay platform) throws Exception {
        var works = List.of(
                "su user -c 'ping -c1 -W2 127.0.0.1' | grep '1 received'",
                "ping -c1 -W2 127.0.0.1 | grep '1 received'",
                "su user -c 'sudo -n id -u' | grep '^0$'",
                "cp /usr/bin/id /opt/own-id && chmod 4755 /opt/own-id && su user -c /opt/own-id | grep 'euid=0'",
                "getent hosts localhost",
                "python3 -c 'import threading,subprocess,socket,signal;t=threading.Thread(target=print);t.start();"
                        + "t.join();subprocess.check_call([\"true\"]);socket.socketpair();signal.alarm(1)'",
                "node -e 'require(\"child_process\").execSync(\"true\");require(\"os\").networkInterfaces()'",
                "setarch -R true",
                "script -qec true /dev/null");
        try (var sandbox = RemoteSandbox.create(platform.url(), platform.key())) {
            for (String script : works) {
                String said = sandbox.run(List.of("/bin/sh", "-c", "(" + script + ") 2>&1 && echo it-works"));
                assertThat(said).as(script).contains("it-works");
            }
        }
    }
}
