package dev.cay.node.ingress;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.node.process.ProcessSettings;
import dev.cay.testing.NeedsRoot;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Reading output again by `Cay-Output-From`, and readers who do not read.
@Timeout(90)
@NeedsRoot
class OutputAgainTest {
    private static final String FROM = "Cay-Output-From";

    private ProcessLab lab;

    @BeforeEach
    void start() throws Exception {
        var settings = ProcessSettings.DEFAULT;
        lab = new ProcessLab(new ProcessSettings(
                settings.logBytes(), Duration.ofMinutes(10), settings.retention(), settings.inputLimit()));
    }

    @AfterEach
    void stop() throws Exception {
        lab.close();
    }

    private static String process(int pid) {
        return "{\"process\":{\"pid\":%d}}".formatted(pid);
    }

    private ProcessLab.Events connect(int pid, String... headers) throws Exception {
        return lab.open("Connect", process(pid), headers);
    }

    @Test
    void aClientThatWasLostReadsWhatItMissed() throws Exception {
        int pid;
        try (var events = lab.start("echo one; echo err >&2; read x; echo two; sleep 100", "")) {
            pid = events.pid();
            events.until("one\n");
        }
        lab.call("SendInput", "{\"process\":{\"pid\":%d},\"input\":{\"stdin\":\"Cg==\"}}".formatted(pid));
        try (var again = connect(pid, FROM, "stdout=4")) {
            assertThat(again.answer.headers().firstValue(FROM).orElse("")).startsWith("stdout=4,stderr=");
            again.pid();
            assertThat(again.until("two\n")).isEqualTo("two\n");
        }
        try (var all = connect(pid, FROM, "stdout=0, stderr=0")) {
            assertThat(all.answer.headers().firstValue(FROM)).contains("stdout=0,stderr=0");
            all.pid();
            assertThat(all.until("two\n")).contains("one\n");
        }
        // Who does not ask sees nothing of all this.
        try (var plain = connect(pid)) {
            assertThat(plain.answer.headers().firstValue(FROM)).isEmpty();
            plain.pid();
            lab.call("SendSignal", "{\"process\":{\"pid\":%d},\"signal\":\"SIGNAL_SIGKILL\"}".formatted(pid));
            assertThat(plain.rest().text()).isEmpty();
        }
    }

    @Test
    void aRestartOfTheDaemonLosesNothingThatIsAskedFor() throws Exception {
        int pid;
        try (var events = lab.start("echo one; read x; echo two; exit 4", "")) {
            pid = events.pid();
            events.until("one\n");
            lab.restart();
        }
        lab.call("SendInput", "{\"process\":{\"pid\":%d},\"input\":{\"stdin\":\"Cg==\"}}".formatted(pid));
        try (var again = connect(pid, FROM, "stdout=0")) {
            assertThat(again.pid()).isEqualTo(pid);
            var rest = again.rest();
            assertThat(rest.text()).isEqualTo("one\ntwo\n");
            assertThat(rest.end()).contains("exit status 4");
        }
        lab.restart();
        try (var over = connect(pid, FROM, "stdout=2,stderr=0")) {
            assertThat(over.pid()).isEqualTo(pid);
            assertThat(over.rest().text()).isEqualTo("e\ntwo\n");
        }
    }

    @Test
    void theNewestMebibyteIsKept() throws Exception {
        int pid;
        try (var events = lab.start("head -c 3000000 /dev/zero; echo first >&2; sleep 100", "")) {
            pid = events.pid();
            events.until("first\n");
        }
        try (var newest = connect(pid, FROM, "stdout=" + (3_000_000 - (1 << 20)) + ",stderr=0")) {
            newest.pid();
            assertThat(newest.until("first\n")).hasSize((1 << 20) + 6);
        }
        try (var all = connect(pid, FROM, "stdout=0,stderr=0")) {
            String oldest = all.answer.headers().firstValue(FROM).orElse("");
            long from = Long.parseLong(oldest.replaceAll("stdout=(\\d+),.*", "$1"));
            assertThat(from).isBetween(3_000_000L - (3 << 19), 3_000_000L - (1 << 20));
        }
        try (var gone = connect(pid, FROM, "stdout=1")) {
            assertThat(gone.last()).contains("failed_precondition", "was dropped");
        }
        for (String bad : new String[] {"stdout", "stdout=-1", "stdin=0", "stdout=3000001", "pty=0"}) {
            try (var refused = connect(pid, FROM, bad)) {
                assertThat(refused.last()).contains("invalid_argument");
            }
        }
    }

    /// Its stall limit is so long that, did the process wait for the reader who does not read, this test would fail.
    @Test
    void aReaderWhoDoesNotReadHoldsUpNobody() throws Exception {
        try (var events = lab.start("read x; head -c 50000000 /dev/zero; echo end", "")) {
            int pid = events.pid();
            var dead = connect(pid);
            dead.pid();
            long before = used();
            lab.call("SendInput", "{\"process\":{\"pid\":%d},\"input\":{\"stdin\":\"Cg==\"}}".formatted(pid));
            assertThat(events.count()).isEqualTo(50_000_004);
            // What the other has not read lies neither on the heap nor anywhere else.
            assertThat(used() - before).isLessThan(20 << 20);
            dead.close();
        }
    }

    private static long used() {
        System.gc();
        return Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
    }
}
