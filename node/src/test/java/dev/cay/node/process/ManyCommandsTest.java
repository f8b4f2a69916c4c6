package dev.cay.node.process;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.node.guest.TestSandbox;
import dev.cay.testing.Await;
import dev.cay.testing.NeedsRoot;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(90)
@NeedsRoot
class ManyCommandsTest {
    private static final int COUNT = 1200;
    private static final int KEPT = 1024;

    @Test
    void theOldestOfThoseThatEndedGoFirst() throws Exception {
        try (var sandbox = new TestSandbox();
                var link = sandbox.link();
                var table = new ProcessTable(
                        sandbox.directory().resolve("processes"),
                        link,
                        sandbox.workers(),
                        new ProcessSettings(
                                1 << 20, Duration.ofSeconds(1), Duration.ofMinutes(10), Duration.ofSeconds(5)))) {
            table.adopt();
            var pids = new ArrayList<Integer>();
            try (var threads = Executors.newFixedThreadPool(16)) {
                var all = new ArrayList<Future<Integer>>();
                for (int i = 0; i < COUNT; i++) {
                    all.add(threads.submit(() -> run(table)));
                }
                for (var one : all) {
                    pids.add(one.get());
                }
            }
            // One whose subscriber was still there when it should have gone goes a moment later.
            Await.until("the table forgets ended processes", () -> known(table, pids) <= KEPT);
            assertThat(known(table, pids)).isEqualTo(KEPT);
            assertThat(table.find(new Selector.Pid(pids.getLast()))).isPresent();
            Await.until(
                    "folders of forgotten processes are removed",
                    () -> sandbox.directory().resolve("processes").toFile().list().length <= KEPT + 1);
        }
    }

    private static long known(ProcessTable table, List<Integer> pids) {
        return pids.stream()
                .filter(pid -> table.find(new Selector.Pid(pid)).isPresent())
                .count();
    }

    private static int run(ProcessTable table) throws Exception {
        try (var subscription = table.start(ProcessTableTest.shell("exit 3"))) {
            while (!(subscription.next(Duration.ofSeconds(20)) instanceof Output.End)) {
                assertThat(subscription.process().running()).isTrue();
            }
            return subscription.process().pid();
        }
    }
}
