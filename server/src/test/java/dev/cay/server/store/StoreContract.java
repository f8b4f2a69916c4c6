package dev.cay.server.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.jdbi.v3.core.Handle;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// What every store promises, whatever its engine.
@Timeout(120)
public abstract class StoreContract {
    private static final int WRITERS = 8;
    private static final int CHANGES = 25;

    /// The same records each time within one test.
    protected abstract Store open() throws Exception;

    @Test
    void aFailingTransactionLeavesNothingAndHarmsNoOther() throws Exception {
        try (var store = open();
                var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            var results = new ArrayList<Future<String>>();
            for (int i = 0; i < 40; i++) {
                int number = i;
                results.add(threads.submit(() -> store.write(handle -> {
                    String id = Rows.insert(handle, "t" + number);
                    if (number % 4 == 0) {
                        throw new IllegalStateException("no " + number);
                    }
                    return id;
                })));
            }
            for (int i = 0; i < 40; i++) {
                var result = results.get(i);
                if (i % 4 == 0) {
                    assertThatThrownBy(result::get).hasRootCauseMessage("no " + i);
                } else {
                    assertThat(result.get()).isEqualTo("t" + i);
                }
            }
            assertThat(store.read(Rows::count)).isEqualTo(30);
        }
    }

    @Test
    void aBrokenConstraintIsTheCallersOwnException() throws Exception {
        try (var store = open()) {
            store.write(handle -> Rows.insert(handle, "t1"));
            assertThatThrownBy(() -> store.write(handle -> Rows.insert(handle, "t1")))
                    .isNotInstanceOf(CayException.class)
                    .hasStackTraceContaining("team");
            store.write(handle -> Rows.insert(handle, "t2"));
            assertThat(store.read(Rows::count)).isEqualTo(2);
        }
    }

    @Test
    void readersCannotWrite() throws Exception {
        try (var store = open()) {
            assertThatThrownBy(() -> store.read(handle -> Rows.insert(handle, "t1")))
                    .isInstanceOf(RuntimeException.class);
            assertThat(store.read(Rows::count)).isZero();
        }
    }

    @Test
    void aViewShowsOneMomentWhateverIsWrittenSince() throws Exception {
        try (var store = open()) {
            store.write(handle -> Rows.insert(handle, "t1"));
            try (var view = store.view()) {
                store.write(handle -> Rows.insert(handle, "t2"));
                assertThat(view.read(Rows::count)).isEqualTo(1);
                assertThat(store.read(Rows::count)).isEqualTo(2);
                store.write(handle -> handle.execute("DELETE FROM team"));
                assertThat(view.read(Rows::count)).isEqualTo(1);
                assertThatThrownBy(() -> view.read(handle -> Rows.insert(handle, "t3")))
                        .isInstanceOf(RuntimeException.class);
            }
            assertThat(store.read(Rows::count)).isZero();
        }
    }

    @Test
    void whatWasWrittenIsThereAfterReopeningAndAClosedStoreSaysSo() throws Exception {
        var store = open();
        store.write(handle -> Rows.insert(handle, "t1"));
        store.close();
        assertThatThrownBy(() -> store.write(handle -> Rows.insert(handle, "t2")))
                .isInstanceOfSatisfying(
                        CayException.class, e -> assertThat(e.kind()).isEqualTo(ErrorKind.UNAVAILABLE));
        try (var again = open()) {
            assertThat(again.read(Rows::count)).isEqualTo(1);
        }
    }

    @Test
    void aReaderSeesOneViewHoweverMuchIsWrittenMeanwhile() throws Exception {
        try (var store = open()) {
            store.write(handle -> Rows.insert(handle, "t1"));
            var seen = store.read(handle -> {
                long before = Rows.count(handle);
                store.write(other -> Rows.insert(other, "t2"));
                return Rows.count(handle) - before;
            });
            assertThat(seen).isZero();
            assertThat(store.read(Rows::count)).isEqualTo(2);
        }
    }

    /// Each reads a number and writes the next: one that is written over would be missing at the end.
    @Test
    void changesOfOneRecordAreNeverLost() throws Exception {
        try (var store = open();
                var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            store.write(handle -> Rows.insert(handle, "t1"));
            var go = new CountDownLatch(1);
            var results = new ArrayList<Future<?>>();
            for (int writer = 0; writer < WRITERS; writer++) {
                results.add(threads.submit(() -> {
                    go.await(1, TimeUnit.MINUTES);
                    for (int i = 0; i < CHANGES; i++) {
                        store.write(StoreContract::increment);
                    }
                    return null;
                }));
            }
            go.countDown();
            for (var result : results) {
                result.get();
            }
            assertThat(store.read(StoreContract::number)).isEqualTo(WRITERS * CHANGES);
        }
    }

    /// Two records that are changed in opposite order.
    @Test
    void transactionsThatWaitForEachOtherAreBothDone() throws Exception {
        try (var store = open();
                var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            store.write(handle -> Rows.insert(handle, "t1"));
            store.write(handle -> Rows.insert(handle, "t2"));
            var results = new ArrayList<Future<?>>();
            for (int i = 0; i < 4; i++) {
                String first = i % 2 == 0 ? "t1" : "t2";
                String second = i % 2 == 0 ? "t2" : "t1";
                results.add(threads.submit(() -> store.write(handle -> {
                    add(handle, first);
                    add(handle, second);
                    return first;
                })));
            }
            for (var result : results) {
                result.get();
            }
            assertThat(store.read(StoreContract::number)).isEqualTo(4);
        }
    }

    @Test
    void keysAreOrderedByTheirBytes() throws Exception {
        try (var store = open()) {
            for (String id : new String[] {"b", "B", "a", "A", "ä", "-", "_"}) {
                store.write(handle -> Rows.insert(handle, id));
            }
            assertThat(store.<List<String>>read(handle -> handle.createQuery("SELECT id FROM team ORDER BY id")
                            .mapTo(String.class)
                            .list()))
                    .containsExactly("-", "A", "B", "_", "a", "b", "ä");
        }
    }

    private static long increment(Handle handle) {
        long next = number(handle) + 1;
        handle.execute("UPDATE team SET created_at = ? WHERE id = 't1'", next);
        return next;
    }

    private static int add(Handle handle, String id) {
        return handle.execute("UPDATE team SET created_at = created_at + 1 WHERE id = ?", id);
    }

    private static long number(Handle handle) {
        return handle.createQuery("SELECT created_at FROM team WHERE id = 't1'")
                .mapTo(Long.class)
                .one();
    }
}
